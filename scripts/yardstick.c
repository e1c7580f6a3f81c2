/*
 * Uniformly random games of Tanbo, by hand in C: what the kernel's speed is measured
 * against (scripts/yardstick.py compiles and runs this file).
 *
 * Usage: yardstick ROW... with the start position's rows, top first, as X, O and dots.
 * Each line "GAMES SEED" on stdin is answered by "MOVES BLACK_WINS MICROSECONDS", the
 * processor time of those games.
 *
 * The rules (RULES.md R3 to R8) are kept incrementally. A root's id is the cell of its
 * founding stone. Every cell has, per colour, one word about its neighbours of that
 * colour: bits 0-11 the sum of their root ids, bits 12-14 their number, bit 15 "not
 * empty". So one addition joins a stone to a neighbour, and a cell is a growth point,
 * and legal, iff the word lies in [ONE, 2 * ONE); then the low bits are its root.
 *
 * What is rarely taken or well predicted is a branch; what is not is arithmetic.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    MAX_SIDE = 25,
    CELLS = (MAX_SIDE + 1) * (MAX_SIDE + 2),
    ONE = 1 << 12,          /* one neighbour, in a cell's word */
    SUM = ONE - 1,          /* mask of the sum of root ids */
    FILLED = 1 << 15,       /* a stone or a guard cell, in a cell's word */
    GONE = 1 << 15,         /* growth of a removed root: from here upwards */
    UNUSED = 1,             /* growth where no root is: never becomes 0 */
};

/* Cells, roots, places. 64 bits: with 32 the conversions of indices cost 5%. */
typedef int64_t Index;

typedef struct {
    uint16_t word[2][CELLS];  /* per colour: the neighbours of that colour */
    uint16_t legal[2][CELLS]; /* per colour: its legal points, in any order */
    uint16_t place[2][CELLS]; /* per colour: where a legal point is in the list */
    uint16_t next[CELLS];     /* next stone of the same root; 0 ends the list */
    /* Growth points of each root. Any sum of four root ids may be used as an index, so
       that "decrement if" can be "subtract the condition" without a branch. */
    uint16_t growth[ONE];
    Index count[2]; /* legal points */
    int32_t roots[2];
    int32_t stones[2];
} Board;

typedef struct {
    uint64_t a, b;
} Random;

/* The set-up: a start board to copy, and what stays the same in every game. */
static Board start;
static uint8_t owner[CELLS]; /* colour of the root with this id */
static int stride;
static int cells;

/* xoroshiro128+ (Blackman and Vigna); the high half is the good one. */
static inline uint32_t draw(Random *random, uint32_t bound)
{
    const uint64_t a = random->a, b = random->b ^ a;
    const uint64_t high = (a + random->b) >> 32;
    random->a = (a << 24 | a >> 40) ^ b ^ b << 16;
    random->b = b << 37 | b >> 27;
    return (uint32_t)(high * bound >> 32);
}

static Random seeded(uint64_t seed)
{
    uint64_t state[2];
    for (int i = 0; i < 2; i++) { /* splitmix64: similar seeds, unlike states */
        uint64_t z = seed += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        state[i] = z ^ z >> 31;
    }
    return (Random){state[0], state[1] | 1};
}

static inline bool is_single(uint32_t word)
{
    return word >> 12 == 1;
}

static inline void append(Board *board, int color, Index cell)
{
    const Index at = board->count[color]++;
    board->legal[color][at] = (uint16_t)cell;
    board->place[color][cell] = (uint16_t)at;
}

/* Take out the entry at a place of the list; the last one fills the gap. */
static inline void take_out(Board *board, int color, Index at)
{
    const Index last = board->legal[color][--board->count[color]];
    board->legal[color][at] = (uint16_t)last;
    board->place[color][last] = (uint16_t)at;
}

/* A cell whose word fell to one neighbour serves that neighbour's root again, unless
   that root is being removed too or the cell was found before from another stone. */
static inline void regain(Board *board, int color, Index cell, uint32_t word)
{
    const Index root = word - ONE, at = board->place[color][cell];
    const bool listed = at < board->count[color] && board->legal[color][at] == cell;
    if (board->growth[root] < GONE && !listed) {
        board->growth[root]++;
        append(board, color, cell);
    }
}

/* Empty a cell of a root that goes: no neighbour of its own colour is left. Whether it
   becomes a growth point of the other colour is a toss-up, so without a branch. */
static inline void vacate(Board *board, int color, Index cell)
{
    const int other = !color;
    const Index at = board->count[other];
    const uint32_t word = board->word[other][cell] & (FILLED - 1);
    uint16_t *growth = &board->growth[word & SUM];
    const Index gain = is_single(word) & (*growth < GONE);
    board->word[color][cell] = 0;
    board->word[other][cell] = (uint16_t)word;
    board->legal[other][at] = (uint16_t)cell;
    board->place[other][cell] = (uint16_t)at;
    board->count[other] = at + gain;
    *growth = (uint16_t)(*growth + gain);
}

/* Two passes, so that the second sees final words and seldom branches. */
static void remove_root(Board *board, Index root)
{
    const int color = owner[root];
    const Index around[4] = {-stride, -1, 1, stride};
    uint16_t *word = board->word[color];
    board->growth[root] = GONE;
    board->roots[color]--;
    for (Index cell = root; cell; cell = board->next[cell]) {
        board->stones[color]--;
        for (int i = 0; i < 4; i++)
            word[cell + around[i]] -= (uint16_t)(ONE + root);
    }
    for (Index cell = root; cell; cell = board->next[cell]) {
        for (int i = 0; i < 4; i++)
            if (is_single(word[cell + around[i]]))
                regain(board, color, cell + around[i], word[cell + around[i]]);
        vacate(board, color, cell);
    }
}

/* If the word makes its cell a growth point of a bounded root, put that root down for
   removal, once. Returns how many are put down now. */
static int put_down(Board *board, uint32_t word, int found, Index roots[4])
{
    const Index root = word & SUM;
    if (!is_single(word) || board->growth[root])
        return found;
    board->growth[root] = GONE;
    roots[found] = root;
    return found + 1;
}

/* R6b with more than one root: find them all before the first is removed. */
static void remove_several(Board *board, int color, Index point, Index root)
{
    const Index around[4] = {-stride, -1, 1, stride};
    Index roots[4];
    const uint32_t enemy = board->word[!color][point] & (FILLED - 1);
    int found = put_down(board, enemy, 0, roots);
    for (int i = 0; i < 4; i++) {
        const uint32_t now = board->word[color][point + around[i]];
        const uint32_t before = (uint16_t)(now - ONE - (uint32_t)root);
        found = put_down(board, before, found, roots);
    }
    while (found)
        remove_root(board, roots[--found]);
}

typedef struct {
    int count;  /* how many roots a turn has bounded */
    Index root; /* the last of them */
} Bounded;

/* A root has lost growth points: note it if that has bounded it. */
static inline void lose(Board *board, Index root, Index points, Bounded *bounded)
{
    const Index left = board->growth[root] - points;
    board->growth[root] = (uint16_t)left;
    bounded->count += left == 0;
    bounded->root = left == 0 ? root : bounded->root;
}

/* The enemy loses the point if it was his: now and then, so no branch. The
   list's last entry is written to the gap, or else once more to its own place. */
static inline void block(Board *board, int enemy, Index point, Bounded *bounded)
{
    const uint32_t word = board->word[enemy][point];
    const Index hit = is_single(word), end = board->count[enemy];
    const Index last = board->legal[enemy][end - 1]; /* by P2 the list is not empty */
    const Index at = end ^ ((end ^ board->place[enemy][point]) & -hit);
    board->word[enemy][point] = (uint16_t)(word | FILLED);
    board->legal[enemy][at] = (uint16_t)last;
    board->place[enemy][last] = (uint16_t)(at - 1 + hit);
    board->count[enemy] = end - hit;
    lose(board, word & SUM, hit, bounded);
}

/* Join a stone to its neighbours: first all that ceases to be a growth point, then all
   that becomes one, without a branch. Returns how many became one. */
static inline Index join(Board *board, int color, Index point, Index root,
                         Bounded *bounded)
{
    const Index around[4] = {-stride, -1, 1, stride};
    uint32_t before[4];
    for (int i = 0; i < 4; i++) {
        const Index cell = point + around[i];
        before[i] = board->word[color][cell];
        board->word[color][cell] = (uint16_t)(before[i] + ONE + (uint32_t)root);
        if (is_single(before[i])) {
            take_out(board, color, board->place[color][cell]);
            lose(board, before[i] - ONE, 1, bounded);
        }
    }
    const Index first = board->count[color];
    Index end = first;
    for (int i = 0; i < 4; i++) {
        board->legal[color][end] = (uint16_t)(point + around[i]);
        board->place[color][point + around[i]] = (uint16_t)end;
        end += before[i] == 0;
    }
    board->count[color] = end;
    return end - first;
}

/* Play the legal point at a place of the list; tell whether the game is over. */
static inline bool play(Board *board, int color, Index at)
{
    Bounded bounded = {0, 0};
    const Index point = board->legal[color][at];
    const Index root = board->word[color][point] - ONE;
    take_out(board, color, at);
    block(board, !color, point, &bounded);
    board->word[color][point] |= FILLED;
    board->stones[color]++;
    board->next[point] = board->next[root];
    board->next[root] = (uint16_t)point;
    const Index gained = join(board, color, point, root, &bounded);
    board->growth[root] = (uint16_t)(board->growth[root] + gained - 1);
    if (board->growth[root] == 0) /* R6a: the current root, and nothing else */
        bounded = (Bounded){1, root};
    if (bounded.count == 0)
        return false;
    if (bounded.count == 1)
        remove_root(board, bounded.root);
    else
        remove_several(board, color, point, root);
    return board->roots[0] == 0 || board->roots[1] == 0;
}

static inline bool turn(Board *board, int color, Random *random)
{
    const Index at = draw(random, (uint32_t)board->count[color]);
    return play(board, color, at);
}

/* Copy the part of the start board that this size uses. */
static void set_up(Board *board)
{
    const size_t size = (size_t)cells * sizeof(uint16_t);
    for (int color = 0; color < 2; color++) {
        memcpy(board->word[color], start.word[color], size);
        memcpy(board->legal[color], start.legal[color], size);
        memcpy(board->place[color], start.place[color], size);
        board->count[color] = start.count[color];
        board->roots[color] = start.roots[color];
        board->stones[color] = start.stones[color];
    }
    memcpy(board->next, start.next, size);
    memcpy(board->growth, start.growth, size);
}

static uint64_t random_game(Board *board, Random *random)
{
    set_up(board);
    for (uint64_t moves = 1;; moves += 2) {
        if (turn(board, 0, random))
            return moves;
        if (turn(board, 1, random))
            return moves + 1;
    }
}

static void answer(uint64_t games, uint64_t seed)
{
    static Board board;
    uint64_t moves = 0, black_wins = 0;
    const clock_t begin = clock();
    Random random = seeded(seed);
    board = start;
    for (uint64_t game = 0; game < games; game++) {
        moves += random_game(&board, &random);
        black_wins += board.roots[0] != 0;
    }
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("%" PRIu64 " %" PRIu64 " %.0f\n", moves, black_wins, seconds * 1e6);
    fflush(stdout);
}

static void found_root(int color, Index cell)
{
    const Index around[4] = {-stride, -1, 1, stride};
    start.word[0][cell] |= FILLED;
    start.word[1][cell] |= FILLED;
    start.growth[cell] = 0;
    start.roots[color]++;
    start.stones[color]++;
    owner[cell] = (uint8_t)color;
    for (int i = 0; i < 4; i++)
        start.word[color][cell + around[i]] += (uint16_t)(ONE + cell);
}

static void read_rows(int height, char **rows)
{
    stride = (int)strlen(rows[0]) + 1;
    cells = stride * (height + 2);
    for (Index cell = 0; cell < CELLS; cell++)
        start.word[0][cell] = start.word[1][cell] = FILLED;
    for (int sum = 0; sum < ONE; sum++)
        start.growth[sum] = UNUSED;
    for (int y = 0; y < height; y++)
        for (int x = 0; rows[y][x]; x++) {
            const Index cell = (y + 1) * stride + x + 1;
            start.word[0][cell] &= FILLED - 1;
            start.word[1][cell] &= FILLED - 1;
            if (rows[y][x] != '.')
                found_root(rows[y][x] == 'O', cell);
        }
}

static void list_legal(void)
{
    for (int color = 0; color < 2; color++)
        for (Index cell = 0; cell < cells; cell++)
            if (is_single(start.word[color][cell])) {
                append(&start, color, cell);
                start.growth[start.word[color][cell] - ONE]++;
            }
}

static bool is_board(int height, char **rows)
{
    bool good = 1 <= height && height <= MAX_SIDE && strlen(rows[0]) <= MAX_SIDE;
    for (int y = 0; good && y < height; y++)
        good = strlen(rows[y]) == strlen(rows[0]) && !rows[y][strspn(rows[y], "XO.")];
    return good;
}

int main(int argc, char **argv)
{
    uint64_t games, seed;
    if (!is_board(argc - 1, argv + 1)) {
        fputs("usage: yardstick ROW...: rows of X, O and dots, top first\n", stderr);
        return 2;
    }
    read_rows(argc - 1, argv + 1);
    list_legal();
    if (!start.roots[0] || !start.roots[1]) {
        fputs("yardstick: both colours need a stone\n", stderr);
        return 2;
    }
    while (scanf("%" SCNu64 " %" SCNu64, &games, &seed) == 2)
        answer(games, seed);
    return 0;
}
