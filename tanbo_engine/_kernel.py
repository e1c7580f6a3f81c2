"""The compiled kernel: position, perft, random games, evaluation, tree search.

Cython in pure Python mode: the structures and C signatures are in ``_kernel.pxd``, the
types that Python sees in ``_kernel.pyi``. Nothing here prints or reads a clock; work
that may take long runs without the GIL. Objects belong to one thread at a time, except
`StopFlag`.

Chapters: 1 tables, 2 random numbers, 3 the board, 4 make and unmake, 5 counting and
random games, 6 evaluation and move priors, 7 tree search, 8 what Python sees.

Points are numbered as in ``points.py``. Inside, a *cell* is a place of the padded
board, ``(row + 1) * stride + column + 1`` with ``stride = width + 1``: one guard column
and two guard rows stop every neighbour look-up without a test.
"""

import cython
from cython.cimports.libc.math import sqrt
from cython.cimports.libc.stdlib import free, malloc, realloc
from cython.cimports.libc.string import memcpy, memset

COMPILED: bool = cython.compiled
MOST_PERFT_DEPTH = 64
PUCT = 0
UCT = 1
PUCT0 = 2

# ---------------------------------------------------------------------------------
# 1 Tables
#
# Filled once at import by arithmetic that is exact to the last bit on every machine
# (no libm), so that a search gives the same node counts everywhere.


def exponential(x):
    """Return e to the power x for |x| <= 8."""
    small: cython.double = x / 1024
    result: cython.double = 1 + small * (1 + small / 2 * (1 + small / 3))
    for _ in range(10):
        result *= result
    return result


def fill_tables():
    """Fill the hash keys and the tables of functions."""
    global side_key
    state: Random
    seed_random(cython.address(state), 0x54616E626F)  # "Tanbo"
    color: cython.int
    i: cython.int
    for color in range(2):
        for i in range(CELLS):
            zobrist[color][i] = next_random(cython.address(state))
    side_key = next_random(cython.address(state))
    x: cython.double
    for i in range(LOGISTIC_SIZE):
        x = LOGISTIC_RANGE - cython.cast(cython.double, i) / LOGISTIC_STEPS
        logistic_table[i] = 1 / (1 + exponential(x))
    for i in range(GROWTH_CHANGES):
        growth_weight[i] = exponential(GROWTH_GAIN * (i - 4))
    # ln(1 + i/256) by the series of 2 artanh(z), z <= 1/3
    z: cython.double
    power: cython.double
    for i in range(257):
        z = cython.cast(cython.double, i) / (i + 512)
        power = z
        log_table[i] = 0
        for color in range(1, 60, 2):
            log_table[i] += 2 * power / color
            power *= z * z


def natural_log(x):
    """Return ln(x) for x >= 1, to about three digits."""
    halvings: cython.int = 0
    rest: cython.double = x
    while rest >= 2:
        rest /= 2
        halvings += 1
    step: cython.int = cython.cast(cython.int, (rest - 1) * 256)
    return log_table[step] + halvings * log_table[256]


# ---------------------------------------------------------------------------------
# 2 Random numbers


def seed_random(state, seed):
    """Seed a generator with splitmix64 (Steele, Lea, Flood 2014)."""
    words: uint64_t[2]
    k: cython.int
    for k in range(2):
        seed += GOLDEN_GAMMA
        words[k] = (seed ^ (seed >> 30)) * SPLIT_MIX_1
        words[k] = (words[k] ^ (words[k] >> 27)) * SPLIT_MIX_2
        words[k] ^= words[k] >> 31
    state.a = words[0]
    state.b = words[1] | 1  # never both 0


def next_random(state):
    """Return 64 random bits, the high ones the best: xoroshiro128+ (Vigna 2018)."""
    a: uint64_t = state.a
    b: uint64_t = state.b ^ a
    result: uint64_t = a + state.b
    state.a = ((a << 24) | (a >> 40)) ^ b ^ (b << 16)
    state.b = (b << 37) | (b >> 27)
    return result


def random_below(state, bound):
    """Return a number from 0 to bound - 1 (bias below 2**-22 on our lists)."""
    high: uint64_t = next_random(state) >> 32
    return cython.cast(cython.int, (high * cython.cast(uint64_t, bound)) >> 32)


# ---------------------------------------------------------------------------------
# 3 The board
#
# Kept up to date by every move (`Board` in the .pxd says how): per cell and colour a
# word about its neighbours of that colour, per root the number of its growth points,
# per colour the list of legal points. A point is legal for a colour if it is empty and
# has exactly one neighbour of it (RULES.md R3); then it is a growth point of that
# neighbour's root (R5). A root is bounded when it has none.
#
# What is seldom or predictably taken is a branch, what is a toss-up is arithmetic: a
# mispredicted branch costs as much as the rest of a step. The hot steps are declared
# here, not in the .pxd, because only so Cython lets them be inline.


def is_single(word):
    """Tell whether a word's cell is empty with exactly one neighbour of the colour."""
    return word >> 12 == 1


def add_legal(b, color, cell):
    """Add a cell to the legal list of a colour."""
    at: Index = b.count[color]
    b.legal[color][at] = cell
    b.place[color][cell] = at
    b.count[color] = at + 1


def drop_legal(b, color, cell):
    """Take a cell out of the legal list; the last one fills the gap."""
    at: Index = b.place[color][cell]
    b.count[color] -= 1
    last: Index = b.legal[color][b.count[color]]
    b.legal[color][at] = last
    b.place[color][last] = at


def lay_out(b, width, height):
    """Make an empty board, Black to move."""
    i: Index
    row: Index
    column: Index
    memset(b, 0, cython.sizeof(Board))
    b.width = width
    b.height = height
    b.stride = width + 1
    b.cell_count = (height + 2) * b.stride + 1
    for i in range(b.cell_count):
        b.owner[i] = NOBODY
        b.word[BLACK][i] = b.word[WHITE][i] = FILLED
    for i in range(SUMS):
        b.growth[i] = UNUSED
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            i = row * b.stride + column
            b.word[BLACK][i] = b.word[WHITE][i] = 0


def set_up(b, stones):
    """Fill a laid-out board from the colour of the stone on each cell, or NOBODY."""
    i: Index
    k: Index
    color: Index
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    root_of: uint16_t[CELLS]
    memset(root_of, 0, cython.sizeof(root_of))
    for i in range(b.cell_count):
        color = stones[i]
        if color != NOBODY:
            if root_of[i] == 0:
                found_root(b, i, stones, root_of)
            b.stones[color] += 1
            b.word[BLACK][i] |= FILLED
            b.word[WHITE][i] |= FILLED
            for k in range(4):
                b.word[color][i + around[k]] += ONE + root_of[i]
    for i in range(b.cell_count):
        for color in range(2):
            if is_single(b.word[color][i]):
                add_legal(b, color, i)
                b.growth[b.word[color][i] & SUM] += 1


def found_root(b, first, stones, root_of):
    """Make the list of the root whose lowest stone is `first`, breadth first."""
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    at: Index = first
    last: Index = first
    near: Index
    k: Index
    b.owner[first] = stones[first]
    b.growth[first] = 0
    b.roots[stones[first]] += 1
    root_of[first] = first
    while at != 0:
        for k in range(4):
            near = at + around[k]
            if stones[near] == stones[first] and root_of[near] == 0:
                root_of[near] = first
                b.next[last] = near
                last = near
        at = b.next[at]


def is_root(b, cell):
    """Tell whether a root with this id stands on the board."""
    return b.owner[cell] != NOBODY and b.growth[cell] < GONE


def read_stones(b, stones):
    """Write the colour of the stone on each cell, or NOBODY."""
    i: Index
    at: Index
    memset(stones, NOBODY, CELLS)
    for i in range(b.cell_count):
        if is_root(b, i):
            at = i
            while at != 0:
                stones[at] = b.owner[i]
                at = b.next[at]


def copy_board(target, source):
    """Copy a board to one that was laid out once, only as much as is in use."""
    color: cython.int
    size: cython.size_t = source.cell_count * cython.sizeof(uint16_t)
    memcpy(
        target,
        source,
        cython.cast(cython.p_char, source.word) - cython.cast(cython.p_char, source),
    )
    for color in range(2):
        memcpy(target.word[color], source.word[color], size)
        memcpy(target.place[color], source.place[color], size)
        memcpy(
            target.legal[color],
            source.legal[color],
            source.count[color] * cython.sizeof(uint16_t),
        )
    memcpy(target.next, source.next, size)
    memcpy(target.owner, source.owner, source.cell_count)
    memcpy(target.growth, source.growth, size)


def rebuild(target, source):
    """Set up the same position anew, so that lists do not depend on how it arose."""
    stones: uint8_t[CELLS]
    read_stones(source, stones)
    lay_out(target, source.width, source.height)
    set_up(target, stones)
    target.to_move = source.to_move


def winner_of(b):
    """Return the colour that has won, or -1 (RULES.md R8)."""
    if b.roots[BLACK] == 0:
        return WHITE
    if b.roots[WHITE] == 0:
        return BLACK
    return -1


def board_key(b):
    """Return the Zobrist key of size, stones and side to move."""
    key: uint64_t = (b.width * (MAX_SIDE + 1) + b.height) * GOLDEN_GAMMA
    stones: uint8_t[CELLS]
    i: Index
    read_stones(b, stones)
    for i in range(b.cell_count):
        if stones[i] != NOBODY:
            key ^= zobrist[stones[i]][i]
    return key ^ side_key if b.to_move == WHITE else key


def key_change(b, undo):
    """Return what the last move changes in the key; the same takes it back.

    Random games and the tree search need no keys, so moves do not keep them.
    """
    color: Index = 1 - b.to_move
    change: uint64_t = side_key ^ zobrist[color][undo.cell]
    at: Index
    k: cython.int
    for k in range(undo.removed_count):
        color = b.owner[undo.removed[k]]
        at = undo.removed[k]
        while at != 0:
            change ^= zobrist[color][at]
            at = b.next[at]
    return change


# ---------------------------------------------------------------------------------
# 4 Make and unmake


def make_move(b, cell, undo):
    """Place a stone of the side to move on a legal cell; see `place`."""
    if b.to_move == BLACK:
        place(b, BLACK, cell, undo)
        b.to_move = WHITE
    else:
        place(b, WHITE, cell, undo)
        b.to_move = BLACK


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def place(
    b: cython.pointer(Board), color: Index, cell: Index, undo: cython.pointer(Undo)
) -> cython.void:
    """Place a stone on a legal cell and do what R6 says.

    Step 1  The cell is no growth point any more, neither of the own root nor of an
            enemy root.
    Step 2  The stone joins the current root.
    Step 3  Each empty neighbour stops being a growth point of an own root (its second
            own neighbour) or becomes one of the current root (its first).
    Step 4  The current root goes if it is bounded (R6a), else every other root that
            steps 1 and 3 have bounded (R6b; there are no others, RULES.md P9).

    Meant to be inlined with a constant colour; `to_move` is the caller's. Nothing can
    be taken back where `undo` is NULL.
    """
    root: Index = b.word[color][cell] - ONE
    bounded: Bounded
    bounded.count = 0
    bounded.root = 0
    if undo != cython.NULL:
        undo.cell = cell
        undo.root = root
        undo.old_next = b.next[cell]
        undo.removed_count = 0
    drop_legal(b, color, cell)  # Step 1
    block(b, 1 - color, cell, cython.address(bounded))
    b.word[color][cell] |= FILLED  # Step 2
    b.stones[color] += 1
    b.next[cell] = b.next[root]
    b.next[root] = cell
    # Step 3. The cell itself counts until all gains are known, so that the current
    # root is not taken for bounded in between.
    gained: Index = join(b, color, cell, root, cython.address(bounded))
    b.growth[root] += gained - 1
    if b.growth[root] == 0:  # Step 4
        bounded.count = 1
        bounded.root = root
    if bounded.count == 1:
        remove_root(b, bounded.root)
        if undo != cython.NULL:
            undo.removed[0] = bounded.root
            undo.removed_count = 1
    elif bounded.count > 1:
        remove_several(b, color, cell, root, undo)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def block(
    b: cython.pointer(Board),
    enemy: Index,
    cell: Index,
    bounded: cython.pointer(Bounded),
) -> cython.void:
    """Take a cell that is being filled from the enemy, if it was a point of his.

    A toss-up, so without a branch: the last entry of his list goes to the gap, or else
    once more to its own place.
    """
    word: uint32_t = b.word[enemy][cell]
    hit: Index = is_single(word)
    end: Index = b.count[enemy]
    last: Index = b.legal[enemy][end - 1]  # there is one: he has a move (P2)
    at: Index = end ^ ((end ^ b.place[enemy][cell]) & -hit)
    b.word[enemy][cell] = word | FILLED
    b.legal[enemy][at] = last
    b.place[enemy][last] = at - 1 + hit
    b.count[enemy] = end - hit
    lose(b, word & SUM, hit, bounded)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def join(
    b: cython.pointer(Board),
    color: Index,
    cell: Index,
    root: Index,
    bounded: cython.pointer(Bounded),
) -> Index:
    """Join a stone to its neighbours: first all losses, then all gains.

    Returns:
        How many cells have become growth points of the root.
    """
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    before: uint32_t[4]
    k: Index
    for k in range(4):
        before[k] = b.word[color][cell + around[k]]
        b.word[color][cell + around[k]] = before[k] + ONE + root
        if is_single(before[k]):
            drop_legal(b, color, cell + around[k])
            lose(b, before[k] & SUM, 1, bounded)
    first: Index = b.count[color]
    end: Index = first
    for k in range(4):
        b.legal[color][end] = cell + around[k]
        b.place[color][cell + around[k]] = end
        end += before[k] == 0
    b.count[color] = end
    return end - first


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def lose(
    b: cython.pointer(Board),
    root: Index,
    points: Index,
    bounded: cython.pointer(Bounded),
) -> cython.void:
    """Take growth points from a root; note it if that bounds it."""
    left: Index = b.growth[root] - points
    b.growth[root] = left
    bounded.count += left == 0
    bounded.root = root if left == 0 else bounded.root


def remove_several(b, color, cell, root, undo):
    """Remove more than one root (R6b): find them all before the first goes."""
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    removed: uint16_t[MAX_REMOVED]
    word: uint32_t = b.word[1 - color][cell] & (FILLED - 1)
    count: cython.int = put_down(b, word, removed, 0)
    k: cython.int
    for k in range(4):
        word = cython.cast(uint16_t, b.word[color][cell + around[k]] - ONE - root)
        count = put_down(b, word, removed, count)
    for k in range(count):
        remove_root(b, removed[k])
    if undo != cython.NULL:
        memcpy(undo.removed, removed, cython.sizeof(removed))
        undo.removed_count = count


def put_down(b, word, removed, count):
    """Put down for removal, once, the root that a cell's word made a growth point.

    Returns:
        How many are put down now.
    """
    root: Index = word & SUM
    if not is_single(word) or b.growth[root] != 0:
        return count
    b.growth[root] = GONE
    removed[count] = root
    return count + 1


def remove_root(b, root):
    """Take a bounded root off the board; its list stays in its cells.

    The first pass takes its stones from their neighbours' words, the second sees final
    words: cells that have one neighbour left serve that one's root again.
    """
    color: Index = b.owner[root]
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    word: cython.pointer(uint16_t) = b.word[color]
    k: Index
    at: Index = root
    b.growth[root] = GONE
    b.roots[color] -= 1
    while at != 0:
        b.stones[color] -= 1
        for k in range(4):
            word[at + around[k]] -= ONE + root
        at = b.next[at]
    at = root
    while at != 0:
        for k in range(4):
            if is_single(word[at + around[k]]):
                regain(b, color, at + around[k], word[at + around[k]])
        vacate(b, color, at)
        at = b.next[at]


def regain(b, color, cell, word):
    """Make a cell a growth point again, unless found before or its root goes too."""
    root: Index = word & SUM
    at: Index = b.place[color][cell]
    if b.growth[root] < GONE and not (
        at < b.count[color] and b.legal[color][at] == cell
    ):
        b.growth[root] += 1
        add_legal(b, color, cell)


def vacate(b, color, cell):
    """Empty a cell of a root that goes: it touches no other stone of its colour.

    Whether it becomes a growth point of the other colour is a toss-up: no branch.
    """
    other: Index = 1 - color
    at: Index = b.count[other]
    word: uint32_t = b.word[other][cell] & (FILLED - 1)
    gain: Index = is_single(word) & (b.growth[word & SUM] < GONE)
    b.word[color][cell] = 0
    b.word[other][cell] = word
    b.legal[other][at] = cell
    b.place[other][cell] = at
    b.count[other] = at + gain
    b.growth[word & SUM] += gain


def unmake_move(b, undo):
    """Take back the last move: the steps of `make_move` in reverse."""
    enemy: Index = b.to_move
    color: Index = 1 - enemy
    cell: Index = undo.cell
    root: Index = undo.root
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    before: uint32_t
    k: Index
    for k in range(undo.removed_count - 1, -1, -1):
        restore_root(b, undo.removed[k])
    for k in range(undo.removed_count):
        b.growth[undo.removed[k]] = 0
    for k in range(4):
        before = cython.cast(uint16_t, b.word[color][cell + around[k]] - ONE - root)
        b.word[color][cell + around[k]] = before
        if before == 0:
            drop_legal(b, color, cell + around[k])
            b.growth[root] -= 1
        elif is_single(before):
            add_legal(b, color, cell + around[k])
            b.growth[before & SUM] += 1
    b.to_move = color
    b.next[root] = b.next[cell]
    b.next[cell] = undo.old_next
    b.stones[color] -= 1
    for k in range(2):
        b.word[k][cell] &= FILLED - 1
        if is_single(b.word[k][cell]):
            add_legal(b, k, cell)
            b.growth[b.word[k][cell] & SUM] += 1


def restore_root(b, root):
    """Put a removed root back: `remove_root` in reverse.

    Its growth stays GONE until all roots of the turn are back, as in `remove_several`.
    """
    color: Index = b.owner[root]
    other: Index = 1 - color
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    word: uint32_t
    k: Index
    at: Index = root
    while at != 0:
        word = b.word[other][at]
        if is_single(word) and b.growth[word & SUM] < GONE:
            drop_legal(b, other, at)
            b.growth[word & SUM] -= 1
        b.word[color][at] |= FILLED
        b.word[other][at] |= FILLED
        b.stones[color] += 1
        at = b.next[at]
    at = root
    while at != 0:
        for k in range(4):
            word = b.word[color][at + around[k]]
            if is_single(word) and b.growth[word & SUM] < GONE:
                drop_legal(b, color, at + around[k])
                b.growth[word & SUM] -= 1
            b.word[color][at + around[k]] += ONE + root
        at = b.next[at]
    b.roots[color] += 1


# ---------------------------------------------------------------------------------
# 5 Counting and random games


def count_paths(b, depth, stop):
    """Return the number of paths of exactly `depth` turns; early ends do not count."""
    if depth == 0:
        return 1
    if winner_of(b) >= 0 or stop.flag:
        return 0
    moves: cython.int = b.count[b.to_move]
    if depth == 1:
        return moves
    undo: Undo
    cells: uint16_t[CELLS]
    memcpy(cells, b.legal[b.to_move], moves * 2)
    total: uint64_t = 0
    i: cython.int
    for i in range(moves):
        make_move(b, cells[i], cython.address(undo))
        total += count_paths(b, depth - 1, stop)
        unmake_move(b, cython.address(undo))
    return total


def random_game(b, random):
    """Play uniformly random moves to the end; return the number of turns.

    `to_move` is not kept: the sides take turns here.
    """
    turns: cython.int = 0
    if b.to_move == WHITE and winner_of(b) < 0:
        place_any(b, WHITE, random)
        turns = 1
    while winner_of(b) < 0:
        place_any(b, BLACK, random)
        turns += 1
        if winner_of(b) >= 0:
            break
        place_any(b, WHITE, random)
        turns += 1
    return turns


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def place_any(
    b: cython.pointer(Board), color: Index, random: cython.pointer(Random)
) -> cython.void:
    """Place a stone on a random legal cell."""
    moves: Index = b.count[color]
    place(b, color, b.legal[color][random_below(random, moves)], cython.NULL)


# ---------------------------------------------------------------------------------
# 6 Evaluation and move priors
#
# Growth points decide: the side that runs out of moves that do not bound its own
# roots loses (RULES.md section 7). Uniform random games judge that badly; a count of
# growth points after a short informed rollout judges it well (SEARCH.md C3).


def logistic(x):
    """Return 1 / (1 + e^-x) from the table."""
    if x <= -LOGISTIC_RANGE:
        return logistic_table[0]
    if x >= LOGISTIC_RANGE:
        return logistic_table[LOGISTIC_SIZE - 1]
    return logistic_table[
        cython.cast(cython.int, (x + LOGISTIC_RANGE) * LOGISTIC_STEPS + 0.5)
    ]


def static_value(b):
    """Return Black's estimated win probability, 0 to 1; exact when the game is over."""
    if b.roots[BLACK] == 0:
        return 0
    if b.roots[WHITE] == 0:
        return 1
    lead: cython.double = (
        b.count[BLACK]
        - b.count[WHITE]
        + STONE_WEIGHT * (b.stones[BLACK] - b.stones[WHITE])
        + ROOT_WEIGHT * (b.roots[BLACK] - b.roots[WHITE])
    )
    points: cython.int = b.count[BLACK] + b.count[WHITE]
    return logistic(lead / (BASE_SCALE + GROWTH_SCALE * points))


def move_weight(b, cell):
    """Return how promising a legal cell looks for the side to move; above 0.

    Looks at the four neighbours only: what the placement does to the growth points of
    the current root, of other own roots and of the enemy root that it touches.
    """
    color: Index = b.to_move
    word: uint32_t = b.word[color][cell]
    root: Index = word & SUM
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    spoilt: Index[4]
    spoilt_count: Index = 0
    gain: Index = -1  # the cell itself
    i: Index
    k: Index
    for k in range(4):
        word = b.word[color][cell + around[k]]
        if word == 0:
            gain += 1
        elif is_single(word):
            if (word & SUM) == root:
                gain -= 1
            else:
                spoilt[spoilt_count] = word & SUM
                spoilt_count += 1
    if b.growth[root] + gain == 0:
        return SELF_BOUNDING
    weight: cython.double = growth_weight[gain - spoilt_count + 4]
    word = b.word[1 - color][cell]
    if is_single(word):
        weight *= TAKES_GROWTH
        if b.growth[word & SUM] == 1:
            weight *= REMOVES_ENEMY
    hits: Index
    for k in range(spoilt_count):
        hits = 1
        for i in range(k):
            if spoilt[i] == spoilt[k]:
                hits += 1
        if hits == b.growth[spoilt[k]]:
            weight *= LOSES_OWN
    return weight


def choose_rollout_move(b, random):
    """Return the more promising of two random moves."""
    color: Index = b.to_move
    moves: cython.int = b.count[color]
    one: Index = b.legal[color][random_below(random, moves)]
    if moves == 1:
        return one
    two: Index = b.legal[color][random_below(random, moves)]
    if one == two or move_weight(b, one) >= move_weight(b, two):
        return one
    return two


def plies_for(b, kind):
    """Return how long a rollout is, in plies, by the size of the board.

    Short ones cost less, but on larger boards the static evaluation needs calmer
    positions. Measured in matches at equal time (CHANGELOG.md).
    """
    area: cython.int = b.width * b.height
    if kind == KIND_PUCT0:
        return PROTOTYPE_PLIES
    if area <= 49:
        return 12
    return 20 if area <= 225 else 40


def rollout(b, random, plies):
    """Play a short informed game on `b`; return Black's win probability at its end."""
    ply: cython.int
    for ply in range(plies):
        if b.roots[BLACK] == 0 or b.roots[WHITE] == 0:
            break
        make_move(b, choose_rollout_move(b, random), cython.NULL)
    return static_value(b)


# ---------------------------------------------------------------------------------
# 7 Tree search
#
# A result is always seen from the side that made the move of the node it is stored
# in. `proof` is an exact result: it comes from finished games and from the children
# (Winands, Bjornsson, Saito 2008), never from an evaluation.


def descend(t):
    """Make one visit: from the root to a leaf, and the leaf's value back up.

    Step 1  Start at the searched position.
    Step 2  Walk down while the node has children. A node gets them on its second
            visit, which keeps the tree to what proved interesting once.
    Step 3  At each node take the child that PUCT (or UCB1) prefers.
    Step 4  Stop at a node with a proof: nothing is left to find out there.
    Step 5  Value the leaf: exact if the game is over, else a rollout closed by the
            static evaluation (UCT: a uniformly random game to the end).
    Step 6  Add the value to every node on the way, and pass proofs up.
    """
    depth: cython.int = 0
    node: cython.pointer(Node) = cython.address(t.nodes[1])
    copy_board(cython.address(t.board), cython.address(t.start))  # Step 1
    t.path[0] = node
    while node.proof == 0 and depth < MAX_DEPTH - 1:  # Steps 2 and 4
        if node.first == 0 and node.visits > 0:
            expand(t, node)
        if node.first == 0:
            break
        node = select_uct(t, node) if t.kind == KIND_UCT else select_puct(t, node)
        make_move(cython.address(t.board), node.cell, cython.NULL)
        depth += 1
        t.path[depth] = node
    back_up(t, depth, leaf_value(t, node))  # Steps 5 and 6


def expand(t, parent):
    """Give a node its children with normalised priors, if the tree has room."""
    b: cython.pointer(Board) = cython.address(t.board)
    moves: cython.int = b.count[b.to_move]
    if t.used + moves > t.capacity:
        t.full = True
        return
    child: cython.pointer(Node) = cython.address(t.nodes[t.used])
    total: cython.double = 0
    weight: cython.double
    i: cython.int
    for i in range(moves):
        weight = 1
        if t.kind != KIND_UCT:
            weight = move_weight(b, b.legal[b.to_move][i])
        child[i].cell = b.legal[b.to_move][i]
        child[i].prior = weight
        child[i].total = 0
        child[i].visits = 0
        child[i].first = 0
        child[i].count = 0
        child[i].proof = 0
        total += weight
    for i in range(moves):
        child[i].prior /= total
    parent.count = moves
    parent.first = t.used
    t.used += moves


def select_puct(t, parent):
    """Return the child with the largest mean + c * prior * sqrt(N) / (1 + n).

    An unvisited child counts with its parent's mean (first-play urgency). Proven
    losses are passed over; a parent whose children all lose is proven itself.
    """
    urgency: cython.double = 1 - mean_result(parent)
    reach: cython.double = EXPLORATION * sqrt(cython.cast(cython.double, parent.visits))
    child: cython.pointer(Node) = cython.address(t.nodes[parent.first])
    best: cython.pointer(Node) = child
    most: cython.double = -1
    score: cython.double
    i: cython.int
    for i in range(parent.count):
        if child.proof >= 0:
            score = child.total / child.visits if child.visits != 0 else urgency
            score += reach * child.prior / (1 + child.visits)
            if score > most:
                most = score
                best = child
        child += 1
    return best


def select_uct(t, parent):
    """Return the child that UCB1 prefers; unvisited ones first, at random."""
    child: cython.pointer(Node) = cython.address(t.nodes[parent.first])
    best: cython.pointer(Node) = child
    most: cython.double = -1
    score: cython.double
    spread: cython.double = natural_log(parent.visits)
    i: cython.int
    for i in range(parent.count):
        if child.proof >= 0:
            if child.visits == 0:
                score = 1e3 + random_below(cython.address(t.random), 1 << 20)
            else:
                score = child.total / child.visits
                score += UCT_EXPLORATION * sqrt(spread / child.visits)
            if score > most:
                most = score
                best = child
        child += 1
    return best


def leaf_value(t, leaf):
    """Return Black's win probability at a leaf; prove it if the game is over."""
    b: cython.pointer(Board) = cython.address(t.board)
    winner: cython.int = winner_of(b)
    if winner >= 0:
        leaf.proof = 1 if winner != b.to_move else -1
    if leaf.proof != 0:
        return 1 if (leaf.proof > 0) == (b.to_move == WHITE) else 0
    if t.kind == KIND_UCT:
        random_game(b, cython.address(t.random))
        return 1 if b.roots[WHITE] == 0 else 0
    return rollout(b, cython.address(t.random), t.plies)


def back_up(t, depth, value):
    """Add a value (Black's) along the path and pass proofs up."""
    node: cython.pointer(Node)
    mover: cython.int = 1 - t.start.to_move if depth % 2 == 0 else t.start.to_move
    changed: cython.bint = t.path[depth].proof != 0
    i: cython.int
    for i in range(depth, -1, -1):
        node = t.path[i]
        if changed and i < depth:
            node.proof = proof_from_children(t, node)
            changed = node.proof != 0
            if changed:
                value = 1 if (node.proof > 0) == (mover == BLACK) else 0
        node.visits += 1
        node.total += value if mover == BLACK else 1 - value
        mover = 1 - mover


def proof_from_children(t, parent):
    """Return a node's proof: -1 if one reply wins, 1 if every reply loses, else 0."""
    child: cython.pointer(Node) = cython.address(t.nodes[parent.first])
    lost: cython.int = 0
    i: cython.int
    for i in range(parent.count):
        if child[i].proof > 0:
            return -1
        lost -= child[i].proof
    return 1 if lost == parent.count else 0


def best_child(t, parent):
    """Return the child to play: a proven win, else the most visited one.

    Proven losses come last; among equals the better mean, the higher prior, the first.
    `moves` of `Search` sorts in the same way.
    """
    child: cython.pointer(Node) = cython.address(t.nodes[parent.first])
    best: cython.pointer(Node) = child
    i: cython.int
    for i in range(1, parent.count):
        child += 1
        if child.proof != best.proof:
            if child.proof > best.proof:
                best = child
        elif child.visits != best.visits:
            if child.visits > best.visits:
                best = child
        elif mean_result(child) != mean_result(best):
            if mean_result(child) > mean_result(best):
                best = child
        elif child.prior > best.prior:
            best = child
    return best


def mean_result(node):
    """Return the mean result of a node; an unvisited one counts as even."""
    return node.total / node.visits if node.visits != 0 else 0.5


# ---------------------------------------------------------------------------------
# 8 What Python sees


def side_of(color):
    """Return a colour that Python gives, to index arrays with (ValueError)."""
    if color not in (BLACK, WHITE):
        raise ValueError(f"a colour is 0 or 1, not {color}")
    return color


@cython.final
@cython.cclass
class StopFlag:
    """Ends the work it was given to, from any thread. Cannot be unset."""

    def set(self):
        """Ask the work to end."""
        self.flag = 1

    @property
    def is_set(self):
        """Whether the work has been asked to end."""
        return self.flag != 0


@cython.final
@cython.cclass
class Position:
    """A mutable position with make and unmake.

    Args:
        width: 3 to 25.
        height: 3 to 25.
        black: points of the black stones.
        white: points of the white stones.
        to_move: 0 for Black, 1 for White.

    The stones must satisfy `rules.check_position`; only ranges and double occupation
    are checked here (ValueError).
    """

    def __init__(self, width, height, black, white, to_move):
        if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
            raise ValueError(f"no board of {width}x{height}: sides are 1 to {MAX_SIDE}")
        if to_move not in (0, 1):
            raise ValueError(f"to_move is 0 or 1, not {to_move}")
        b: cython.pointer(Board) = cython.address(self.board)
        lay_out(b, width, height)
        stones: uint8_t[CELLS]
        memset(stones, NOBODY, CELLS)
        cell: cython.int
        for color, points in enumerate((black, white)):
            for point in points:
                if not 0 <= point < width * height:
                    raise ValueError(f"point {point} is off the board")
                row, column = divmod(point, width)
                cell = (row + 1) * b.stride + column + 1
                if stones[cell] != NOBODY:
                    raise ValueError(f"two stones on point {point}")
                stones[cell] = color
        set_up(b, stones)
        b.to_move = to_move
        self.hash = board_key(b)

    def __dealloc__(self):
        free(self.history)

    def point_of(self, cell):
        """Return the point of a cell."""
        stride: cython.int = self.board.stride
        return (cell // stride - 1) * self.board.width + cell % stride - 1

    @property
    def width(self):
        """Board width."""
        return self.board.width

    @property
    def height(self):
        """Board height."""
        return self.board.height

    @property
    def to_move(self):
        """The side to move, 0 or 1."""
        return self.board.to_move

    @property
    def key(self):
        """Zobrist key of size, stones and side to move; 64 bits."""
        return self.hash

    @property
    def winner(self):
        """The colour that has won, or -1."""
        return winner_of(cython.address(self.board))

    @property
    def turns(self):
        """Moves made and not taken back."""
        return self.turn_count

    def stones(self, color):
        """Return the points of a colour's stones, sorted."""
        board: uint8_t[CELLS]
        read_stones(cython.address(self.board), board)
        cell: Index
        return [
            self.point_of(cell)
            for cell in range(self.board.cell_count)
            if board[cell] == color
        ]

    def stone_count(self, color):
        """Return the number of stones of a colour."""
        return self.board.stones[side_of(color)]

    def root_count(self, color):
        """Return the number of roots of a colour."""
        return self.board.roots[side_of(color)]

    def is_legal(self, color, point):
        """Tell whether a colour may place a stone there (R3); False after the end."""
        if not 0 <= point < self.board.width * self.board.height:
            return False
        row, column = divmod(point, self.board.width)
        cell: cython.int = (row + 1) * self.board.stride + column + 1
        side: cython.int = side_of(color)
        return is_single(self.board.word[side][cell]) != 0 and self.winner < 0

    def legal_moves(self, color):
        """Return the legal points of a colour, sorted; none after the end."""
        side: cython.int = side_of(color)
        i: cython.int
        if self.winner >= 0:
            return []
        return sorted(
            [
                self.point_of(self.board.legal[side][i])
                for i in range(self.board.count[side])
            ]
        )

    def roots(self):
        """Return (colour, stones, growth points) of every root, points sorted.

        Black's roots first, each colour by its lowest stone.
        """
        b: cython.pointer(Board) = cython.address(self.board)
        found = {}
        cell: Index
        at: Index
        color: Index
        for cell in range(b.cell_count):
            if is_root(b, cell):
                stones = []
                at = cell
                while at != 0:
                    stones.append(self.point_of(at))
                    at = b.next[at]
                found[cell] = (int(b.owner[cell]), sorted(stones), [])
        for cell in range(b.cell_count):
            for color in range(2):
                if is_single(b.word[color][cell]):
                    found[b.word[color][cell] & SUM][2].append(self.point_of(cell))
        return sorted(found.values(), key=lambda root: (root[0], root[1][0]))

    def make(self, point):
        """Place a stone of the side to move; return how many stones were removed.

        Raises:
            ValueError: the point is not legal; nothing has changed then.
        """
        b: cython.pointer(Board) = cython.address(self.board)
        if not self.is_legal(b.to_move, point):
            raise ValueError(f"point {point} is not legal")
        room: cython.int
        grown: cython.pointer(Undo)
        if self.turn_count == self.history_room:
            room = 2 * self.history_room + 64
            grown = cython.cast(
                cython.pointer(Undo), realloc(self.history, room * cython.sizeof(Undo))
            )
            if grown == cython.NULL:
                raise MemoryError("no memory for the history of the game")
            self.history = grown
            self.history_room = room
        before: cython.int = b.stones[0] + b.stones[1]
        row, column = divmod(point, b.width)
        undo: cython.pointer(Undo) = cython.address(self.history[self.turn_count])
        make_move(b, (row + 1) * b.stride + column + 1, undo)
        self.hash ^= key_change(b, undo)
        self.turn_count += 1
        return before + 1 - b.stones[0] - b.stones[1]

    def unmake(self):
        """Take back the last move and return its point.

        Raises:
            IndexError: no move is left to take back.
        """
        if self.turn_count == 0:
            raise IndexError("no move to take back")
        self.turn_count -= 1
        undo: cython.pointer(Undo) = cython.address(self.history[self.turn_count])
        self.hash ^= key_change(cython.address(self.board), undo)
        unmake_move(cython.address(self.board), undo)
        return self.point_of(undo.cell)

    def evaluate(self):
        """Return the static win probability of the side to move, 0 to 1."""
        value = static_value(cython.address(self.board))
        return value if self.board.to_move == BLACK else 1 - value

    def move_weights(self):
        """Return (point, weight) of every legal move: the unnormalised priors."""
        b: cython.pointer(Board) = cython.address(self.board)
        i: cython.int
        if self.winner >= 0:
            return []
        cells = [b.legal[b.to_move][i] for i in range(b.count[b.to_move])]
        return sorted([(self.point_of(cell), move_weight(b, cell)) for cell in cells])

    def check(self):
        """Compare all that moves keep up to date with the same position set up anew.

        Returns:
            An empty text, or what differs: for tests.
        """
        fresh: Board
        b: cython.pointer(Board) = cython.address(self.board)
        rebuild(cython.address(fresh), b)
        i: Index
        color: Index
        if self.hash != board_key(cython.address(fresh)):
            return "key"
        for color in range(2):
            if b.stones[color] != fresh.stones[color]:
                return f"stone count of {color}"
            if b.roots[color] != fresh.roots[color]:
                return f"root count of {color}"
            count = b.count[color]
            legal = sorted([b.legal[color][i] for i in range(count)])
            if count != fresh.count[color] or legal != [
                fresh.legal[color][i] for i in range(count)
            ]:
                return f"legal list of {color}"
            for i in range(b.cell_count):
                if b.word[color][i] >> 12 != fresh.word[color][i] >> 12:
                    return f"neighbours at {self.point_of(i)}"
        return self.check_roots(cython.address(fresh))

    def check_roots(self, fresh):
        """Compare the roots and their growth points, for `check`."""
        b: cython.pointer(Board) = cython.address(self.board)
        i: Index
        at: Index
        color: Index
        new_id = {0: 0}  # root ids of this board -> those of the new one
        for i in range(fresh.cell_count):
            if not is_root(fresh, i):
                continue
            at = i
            anew = []
            while at != 0:
                anew.append(at)
                at = fresh.next[at]
            for old in range(b.cell_count):
                if b.owner[old] == fresh.owner[i] and old in anew and is_root(b, old):
                    new_id[old] = i
                    break
            else:
                return f"no root at {self.point_of(i)}"
            at = old
            mine = []
            while at != 0:
                mine.append(at)
                at = b.next[at]
            if sorted(mine) != sorted(anew):
                return f"stones of the root at {self.point_of(i)}"
            if b.growth[old] != fresh.growth[i]:
                return f"growth points of the root at {self.point_of(i)}"
        for color in range(2):
            for i in range(b.cell_count):
                if is_single(b.word[color][i]):
                    if new_id[b.word[color][i] & SUM] != fresh.word[color][i] & SUM:
                        return f"neighbouring root at {self.point_of(i)}"
        return ""


def perft(position: Position, depth, stop: StopFlag = None):
    """Return the number of move paths of exactly `depth` turns.

    Args:
        position: where to start; unchanged.
        depth: 0 to `MOST_PERFT_DEPTH`; counts beyond ten or so take ages anyway.
        stop: ends the count early, which is then too small.
    """
    if not 0 <= depth <= MOST_PERFT_DEPTH:
        raise ValueError(f"depth is 0 to {MOST_PERFT_DEPTH}, not {depth}")
    board: Board
    turns: cython.int = depth
    total: uint64_t
    flag: StopFlag = StopFlag() if stop is None else stop
    board = position.board
    with cython.nogil:
        total = count_paths(cython.address(board), turns, flag)
    return total


def random_games(position: Position, games, seed, stop: StopFlag = None):
    """Play uniformly random games to the end.

    Returns:
        Moves made in all, games that Black won, games that White won.
    """
    board: Board
    start: Board
    count: cython.int = games
    random: Random
    seed_random(cython.address(random), seed)
    flag: StopFlag = StopFlag() if stop is None else stop
    moves: uint64_t = 0
    black: cython.int = 0
    white: cython.int = 0
    i: cython.int
    rebuild(cython.address(start), cython.address(position.board))
    board = start
    with cython.nogil:
        for i in range(count):
            if flag.flag:
                break
            copy_board(cython.address(board), cython.address(start))
            moves += random_game(cython.address(board), cython.address(random))
            if board.roots[WHITE] == 0:
                black += 1
            else:
                white += 1
    return moves, black, white


@cython.final
@cython.cclass
class Search:
    """A tree search of one position after another.

    Args:
        memory: bound of the tree in bytes; taken at the first `start`.
        kind: PUCT, or a yardstick that is never tuned: UCT (UCB1, uniformly random
            games) or PUCT0 (the prototype recipe of SEARCH.md C3).

    Raises:
        MemoryError: this machine does not give that much.
    """

    def __init__(self, memory, kind=PUCT):
        if kind not in (PUCT, UCT, PUCT0):
            raise ValueError(f"kind is PUCT, UCT or PUCT0, not {kind}")
        self.memory = memory
        self.tree.kind = kind
        # Asked for and given back at once: it is better to fail now than in a game.
        self.take_memory()
        free(self.tree.nodes)
        self.tree.nodes = cython.NULL

    def __dealloc__(self):
        free(self.tree.nodes)

    def start(self, position: Position, seed):
        """Begin to search a position; the former tree is forgotten.

        The search depends on the position, not on the moves that led to it.

        Raises:
            ValueError: the game is over.
            MemoryError: the tree does not fit into memory; nothing has changed then.
        """
        if position.winner >= 0:
            raise ValueError("the game is over: there is nothing to search")
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            self.take_memory()
        rebuild(cython.address(t.start), cython.address(position.board))
        t.board = t.start
        t.plies = plies_for(cython.address(t.start), t.kind)
        seed_random(cython.address(t.random), seed)
        t.full = False
        t.used = 2
        root: cython.pointer(Node) = cython.address(t.nodes[1])
        root.total = 0
        root.visits = 0
        root.first = 0
        root.count = 0
        root.cell = 0
        root.proof = 0
        expand(t, root)
        self.position = position

    def take_memory(self):
        """Take room for the tree: at least two nodes of the largest board."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        count = max(self.memory // cython.sizeof(Node), 2 * CELLS)
        count = min(count, (1 << 32) - 1)
        size: cython.size_t = count * cython.sizeof(Node)
        t.nodes = cython.cast(cython.pointer(Node), malloc(size))
        if t.nodes == cython.NULL:
            raise MemoryError(f"this machine has no {size >> 20} MB for a search tree")
        t.capacity = count
        return 0

    def run(self, visits, stop: StopFlag):
        """Make visits until their number, a proof of the root, or the flag.

        Returns:
            The visits made; fewer than asked for if the flag was set or the root is
            proved.
        """
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            raise ValueError("start a search first")
        wanted: cython.int = visits
        done: cython.int = 0
        with cython.nogil:
            while done < wanted and not stop.flag and t.nodes[1].proof == 0:
                descend(t)
                done += 1
        return done

    @property
    def visits(self):
        """Visits made since `start`."""
        return self.tree.nodes[1].visits if self.tree.nodes != cython.NULL else 0

    @property
    def tree_nodes(self):
        """Nodes of the tree, the root included."""
        return self.tree.used - 1 if self.tree.nodes != cython.NULL else 0

    @property
    def is_full(self):
        """Whether the memory bound has kept the tree from growing."""
        return self.tree.full

    @property
    def proof(self):
        """1 if the side to move is proven to win, -1 if it is to lose, else 0."""
        return -self.tree.nodes[1].proof if self.tree.nodes != cython.NULL else 0

    @property
    def value(self):
        """Win probability of the side to move, 0 to 1."""
        if self.tree.nodes == cython.NULL:
            return 0.5
        if self.tree.nodes[1].proof != 0:
            return 0.0 if self.tree.nodes[1].proof > 0 else 1.0
        return mean_result(best_child(cython.address(self.tree), self.tree.nodes + 1))

    def moves(self):
        """Return (point, visits, value, prior, proof) of every legal move, best first.

        Value and proof are those of the side to move.
        """
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            return []
        child: cython.pointer(Node)
        i: cython.int
        found = []
        for i in range(t.nodes[1].count):
            child = cython.address(t.nodes[t.nodes[1].first + i])
            mean = mean_result(child)
            value = mean if child.proof == 0 else (child.proof + 1) / 2
            point = self.position.point_of(child.cell)
            rank = (child.proof, child.visits, mean, child.prior)  # as in best_child
            move = (point, child.visits, value, child.prior, child.proof)
            found.append((rank, move))
        found.sort(key=lambda ranked: ranked[0], reverse=True)
        return [move for _, move in found]

    def best_move(self):
        """Return the point to play."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            raise ValueError("start a search first")
        return self.position.point_of(best_child(t, cython.address(t.nodes[1])).cell)

    def principal_variation(self):
        """Return the points of best play as far as it has been visited."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL or t.nodes[1].first == 0:
            return []
        return self.line_from(best_child(t, cython.address(t.nodes[1])))

    def variations(self):
        """Return such a line for every legal move, in the order of `moves`."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        i: cython.int
        if t.nodes == cython.NULL:
            return []
        lines = {}
        for i in range(t.nodes[1].count):
            line = self.line_from(cython.address(t.nodes[t.nodes[1].first + i]))
            lines[line[0]] = line
        return [lines[move[0]] for move in self.moves()]

    def line_from(self, node):
        """Return the points of best play from a child of the root, its own first."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        line = [self.position.point_of(node.cell)]
        while node.first != 0:
            node = best_child(t, node)
            if node.visits == 0:
                break
            line.append(self.position.point_of(node.cell))
        return line


fill_tables()
