# Declarations of the compiled kernel: structures, tables, and the C signature of every
# function in _kernel.py that Python does not call.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef enum:
    BLACK = 0
    WHITE = 1
    NOBODY = 2  # instead of a colour, where there is no stone or root
    KIND_PUCT = 0
    KIND_UCT = 1  # plain baseline
    KIND_PUCT0 = 2  # prototype recipe of SEARCH.md C3, a fixed yardstick
    MAX_SIDE = 25
    CELLS = 704  # 25x25 board with its guard cells, rounded up
    MAX_REMOVED = 4  # roots one move can remove (RULES.md P9): one more than proven
    MAX_DEPTH = 1024  # plies of one descent of the tree
    PROTOTYPE_PLIES = 20
    LOGISTIC_STEPS = 256  # table steps per unit
    LOGISTIC_RANGE = 8  # beyond +-8 the table's last value stands
    LOGISTIC_SIZE = 2 * LOGISTIC_RANGE * LOGISTIC_STEPS + 1
    ONE = 1 << 12  # one neighbour, in a cell's word
    SUM = ONE - 1  # mask of the sum of root ids
    FILLED = 1 << 15  # a stone or a guard cell, in a cell's word
    SUMS = 1 << 12
    UNUSED = 1  # growth of what is no root's id: any sum may index growth, harmlessly
    GONE = 1 << 15  # growth of a removed root: from here upwards
    GROWTH_CHANGES = 8  # a placement changes own growth points by -4 to +3

# The prototype recipe of SEARCH.md C3: first guesses there, confirmed by matches.
cdef extern from *:
    """
    #define GOLDEN_GAMMA 0x9E3779B97F4A7C15ULL  /* splitmix64 */
    #define SPLIT_MIX_1 0xBF58476D1CE4E5B9ULL
    #define SPLIT_MIX_2 0x94D049BB133111EBULL
    #define EXPLORATION 1.0      /* PUCT constant */
    #define UCT_EXPLORATION 0.7  /* UCB1 constant, rewards 0 to 1 */
    #define STONE_WEIGHT 0.25    /* one stone, in growth points */
    #define ROOT_WEIGHT 0.5      /* one root, in growth points */
    #define BASE_SCALE 4.0       /* the lead is divided by this ... */
    #define GROWTH_SCALE 0.15    /* ... plus this for each growth point on the board */
    #define SELF_BOUNDING 0.15   /* prior factors: bounds its own root, */
    #define REMOVES_ENEMY 6.0    /* removes an enemy root, */
    #define LOSES_OWN 0.2        /* removes another own root, */
    #define TAKES_GROWTH 1.8     /* takes a growth point of the enemy, */
    #define GROWTH_GAIN 0.35     /* e to this power for each growth point gained */
    """
    const uint64_t GOLDEN_GAMMA, SPLIT_MIX_1, SPLIT_MIX_2
    const double EXPLORATION, UCT_EXPLORATION
    const double STONE_WEIGHT, ROOT_WEIGHT, BASE_SCALE, GROWTH_SCALE
    const double SELF_BOUNDING, REMOVES_ENEMY, LOSES_OWN, TAKES_GROWTH, GROWTH_GAIN

ctypedef struct Random:
    uint64_t a
    uint64_t b

ctypedef int64_t Index     # cells and places; 32 bits would cost conversions

# A position. A root's id is the cell of its first stone, which stands at the head of
# the root's list. Cell 0 is a guard, so 0 means "none" wherever a cell is named.
#
# The word of a cell and a colour tells of its neighbours of that colour: bits 0-11 the
# sum of their root ids, bits 12-14 their number, bit 15 that the cell is not empty. So
# one addition joins a stone to a neighbour, and a cell is a growth point, and legal, if
# word >> 12 is 1; then the low bits are the root's id.
ctypedef struct Board:
    int32_t width
    int32_t height
    Index stride
    Index cell_count
    Index to_move
    Index count[2]           # legal points of each colour
    int32_t stones[2]
    int32_t roots[2]
    uint16_t word[2][CELLS]
    uint16_t legal[2][CELLS]   # legal points of each colour, in no order
    uint16_t place[2][CELLS]   # where a legal point is in that list
    uint16_t next[CELLS]       # next stone of the same root, 0 at the end
    uint8_t owner[CELLS]       # colour of the root with this id, or NOBODY
    uint16_t growth[SUMS]      # growth points of each root; see UNUSED

# What unmake needs. The list of a removed root stays in its (now empty) cells; only the
# link of the cell that was played on is overwritten, so it is kept here.
ctypedef struct Undo:
    uint16_t cell
    uint16_t root
    uint16_t old_next
    uint16_t removed_count
    uint16_t removed[MAX_REMOVED]   # root ids, in the order of removal

# One node of the search tree: a move and what became of it. Children are contiguous.
ctypedef struct Node:
    double total       # sum of results for the side that made the move
    uint32_t visits
    uint32_t first     # index of the first child, 0 while there is none
    float prior
    uint16_t count     # number of children
    uint16_t cell      # the move
    int8_t proof       # 1: the side that made the move wins, -1: it loses, 0: open

ctypedef struct Tree:
    Node* nodes        # nodes[1] is the root, nodes[0] is not used
    uint32_t capacity
    uint32_t used
    Random random
    int kind           # KIND_PUCT, KIND_UCT or KIND_PUCT0
    int plies          # of a rollout
    bint full          # a node could not be expanded for lack of room
    Board start        # the position that is searched
    Board board        # of the descent in progress
    Node* path[MAX_DEPTH]

# 1 Tables
cdef uint64_t zobrist[2][CELLS]
cdef uint64_t side_key
cdef double logistic_table[LOGISTIC_SIZE]
cdef double growth_weight[GROWTH_CHANGES]
cdef double log_table[257]
cdef double exponential(double x) noexcept nogil
cdef void fill_tables() noexcept nogil

# 2 Random numbers
cdef void seed_random(Random* state, uint64_t seed) noexcept nogil
cdef uint64_t next_random(Random* state) noexcept nogil
cdef int random_below(Random* state, int bound) noexcept nogil

# 3 The board
cdef bint is_single(uint32_t word) noexcept nogil
cdef void add_legal(Board* b, Index color, Index cell) noexcept nogil
cdef void drop_legal(Board* b, Index color, Index cell) noexcept nogil
cdef void lay_out(Board* b, int width, int height) noexcept nogil
cdef void set_up(Board* b, const uint8_t* stones) noexcept nogil
cdef void found_root(
    Board* b, Index first, const uint8_t* stones, uint16_t* root_of
) noexcept nogil
cdef bint is_root(const Board* b, Index cell) noexcept nogil
cdef void read_stones(const Board* b, uint8_t* stones) noexcept nogil
cdef void copy_board(Board* target, const Board* source) noexcept nogil
cdef void rebuild(Board* target, const Board* source) noexcept nogil
cdef int winner_of(const Board* b) noexcept nogil
cdef uint64_t board_key(const Board* b) noexcept nogil
cdef uint64_t key_change(const Board* b, const Undo* undo) noexcept nogil

# 4 Make and unmake
ctypedef struct Bounded:
    Index count        # how many roots a placement has bounded
    Index root         # the last of them

cdef void make_move(Board* b, Index cell, Undo* undo) noexcept nogil
cdef void remove_several(
    Board* b, Index color, Index cell, Index root, Undo* undo
) noexcept nogil
cdef int put_down(
    Board* b, uint32_t word, uint16_t* removed, int count
) noexcept nogil
cdef void remove_root(Board* b, Index root) noexcept nogil
cdef void regain(Board* b, Index color, Index cell, uint32_t word) noexcept nogil
cdef void vacate(Board* b, Index color, Index cell) noexcept nogil
cdef void unmake_move(Board* b, const Undo* undo) noexcept nogil
cdef void restore_root(Board* b, Index root) noexcept nogil

# 5 Counting and random games
cdef uint64_t count_paths(Board* b, int depth, StopFlag stop) noexcept nogil
cdef int random_game(Board* b, Random* random) noexcept nogil

# 6 Evaluation and move priors
cdef double logistic(double x) noexcept nogil
cdef double static_value(const Board* b) noexcept nogil
cdef double move_weight(const Board* b, Index cell) noexcept nogil
cdef Index choose_rollout_move(const Board* b, Random* random) noexcept nogil
cdef int plies_for(const Board* b, int kind) noexcept nogil
cdef double rollout(Board* b, Random* random, int plies) noexcept nogil

# 7 Tree search
cdef void descend(Tree* t) noexcept nogil
cdef void expand(Tree* t, Node* parent) noexcept nogil
cdef Node* select_puct(const Tree* t, const Node* parent) noexcept nogil
cdef Node* select_uct(Tree* t, const Node* parent) noexcept nogil
cdef double leaf_value(Tree* t, Node* leaf) noexcept nogil
cdef void back_up(Tree* t, int depth, double value) noexcept nogil
cdef int proof_from_children(const Tree* t, const Node* parent) noexcept nogil
cdef Node* best_child(const Tree* t, const Node* parent) noexcept nogil
cdef double mean_result(const Node* node) noexcept nogil
cdef double natural_log(uint32_t x) noexcept nogil

# 8 What Python sees
cdef int side_of(object color) except -1

cdef class StopFlag:
    cdef volatile int flag

cdef class Position:
    cdef Board board
    cdef uint64_t hash
    cdef Undo* history
    cdef int turn_count
    cdef int history_room
    cdef int point_of(self, int cell) noexcept
    cdef str check_roots(self, const Board* fresh)

cdef class Search:
    cdef Tree tree
    cdef size_t memory
    cdef Position position
    cdef int take_memory(self) except -1
    cdef list line_from(self, const Node* node)
