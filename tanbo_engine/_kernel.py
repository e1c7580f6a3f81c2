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
from cython.cimports.libc.math import sqrt, sqrtf
from cython.cimports.libc.stdlib import free, malloc, realloc
from cython.cimports.libc.string import memcpy, memset

COMPILED: bool = cython.compiled
MOST_PERFT_DEPTH = 64
PUCT = 0
UCT = 1
PUCT0 = 2
MOST_VISITS = 4_000_000_000  # of 32 bits: room for visits under way
MOST_THREADS = MOST_WORKERS
LANES = PATTERN_LANES
ALL_PATTERNS = CENTRES * QUADS
ALL_EFFECTS = EFFECTS
UNITS = HIDDEN
STEPS = POLICY_STEPS

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
    for i in range(POLICY_SIZE):
        x = cython.cast(cython.double, i - POLICY_MIDDLE) / POLICY_STEPS
        policy_table[i] = exponential(x)
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


def fill_pattern_tables():
    """Fill the tables that number local patterns (`classify`, `centre_of`)."""
    us: Index
    them: Index
    k: Index
    for us in range(16):
        for them in range(16):
            kind_table[us][them] = 9  # a stone or off the board
            if us < 8 and them < 8:
                kind_table[us][them] = min(us, 2) * 3 + min(them, 2)
    for us in range(8):
        for k in range(5):
            state_table[us][k] = 0 if us == 0 else (max(1, k) if us == 1 else 5)
    number_quads()


def number_quads():
    """Number the neighbourhoods, equal ones up to turning and mirroring alike."""
    numbers: uint16_t = 0
    code: Index
    least: Index
    turned: Index
    k: Index
    for code in range(KINDS * KINDS * KINDS * KINDS):
        least = code
        turned = code
        for k in range(4):
            turned = turned // KINDS + turned % KINDS * (KINDS * KINDS * KINDS)
            least = min(least, turned, mirrored(turned))
        if least == code:
            quad_table[code] = numbers
            numbers += 1
        else:
            quad_table[code] = quad_table[least]


def mirrored(code):
    """Return the neighbourhood with its second and fourth cell swapped."""
    second: Index = code // (KINDS * KINDS) % KINDS
    fourth: Index = code % KINDS
    return code + (fourth - second) * (KINDS * KINDS) + second - fourth


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
        b.stone[i] = NOBODY
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
            b.stone[i] = color
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
    memcpy(target.stone, source.stone, source.cell_count)
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
    b.stone[cell] = color
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
        b.stone[at] = color
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
    if winner_of(b) >= 0 or read_visits(cython.address(stop.flag)):
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
    """Return 1 / (1 + e^-x) from the table; 0 for what is no number."""
    if not x > -LOGISTIC_RANGE:
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


def learned_value(b):
    """Return Black's win probability by the learned weights; exact after the end."""
    if b.roots[BLACK] == 0:
        return 0
    if b.roots[WHITE] == 0:
        return 1
    value: cython.double = logistic(learned_logit(b))
    return value if b.to_move == BLACK else 1 - value


def learned_logit(b):
    """Return the log odds that the side to move wins a game that is not over.

    Sums over all cells what their local patterns are worth, in `LANES` lanes, and lets
    a small network judge the sums and a few counts.
    """
    sums: int32_t[PATTERN_LANES]
    sum_patterns(b, sums)
    return judge_sums(b, sums)


def judge_sums(b, sums):
    """Return the log odds of a position whose patterns have these sums."""
    inputs: cython.float[INPUTS]
    k: Index
    side: cython.float = sqrtf(b.width * b.height)
    for k in range(PATTERN_LANES):
        inputs[k] = sums[k] * (7 / (side * weights.scale))
    count_whole(b, cython.address(inputs[PATTERN_LANES]))
    return network(inputs)


def count_whole(b, counts):
    """Write the numbers about the whole board, made alike for all sizes."""
    us: Index = b.to_move
    them: Index = 1 - us
    side: cython.float = sqrtf(b.width * b.height)
    counts[0] = b.count[us] / side
    counts[1] = b.count[them] / side
    counts[2] = b.stones[us] / (2 * side)
    counts[3] = b.stones[them] / (2 * side)
    counts[4] = 2 * b.roots[us] / side
    counts[5] = 2 * b.roots[them] / side
    counts[6] = side / 10


def sum_patterns(b, sums):
    """Sum the weights of the pattern around every cell, lane by lane."""
    kinds: uint8_t[CELLS]
    classify(b, kinds)
    memset(sums, 0, PATTERN_LANES * cython.sizeof(int32_t))
    row: Index
    column: Index
    cell: Index
    for row in range(1, b.height + 1):
        cell = row * b.stride
        for column in range(b.width):
            cell += 1
            add_pattern(pattern_at(b, kinds, cell), sums)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def add_pattern(number: Index, sums: cython.pointer(int32_t)) -> cython.void:
    """Add the weights of a pattern to the sums."""
    k: Index
    for k in range(PATTERN_LANES):
        sums[k] += pattern_weights[number][k]


def take_survey(b, survey):
    """Keep the patterns as the other side sees them, for `logit_after` each move."""
    row: Index
    column: Index
    cell: Index
    b.to_move = 1 - b.to_move
    classify(b, survey.kinds)
    memset(survey.sums, 0, cython.sizeof(survey.sums))
    for row in range(1, b.height + 1):
        cell = row * b.stride
        for column in range(b.width):
            cell += 1
            survey.patterns[cell] = pattern_at(b, survey.kinds, cell)
            add_pattern(survey.patterns[cell], survey.sums)
    b.to_move = 1 - b.to_move


def logit_after(b, survey, undo):
    """Return `learned_logit` after a move, from what has changed; anew if stones went.

    Step 1  The stone changes what its cell and the four around it look like from
            beside, and so the patterns up to two cells away.
    Step 2  Growth points tell how many their root has, up to four: all of them look
            different from themselves where that has changed.
    Step 3  The survey is left as it was, for the next move.

    Args:
        b: the position after the move.
        survey: of the position before it.
        undo: of the move.
    """
    if undo.removed_count > 0:
        return learned_logit(b)
    change: Change
    kinds: uint8_t[5]
    around: Index[5]
    around[:] = [0, -b.stride, -1, 1, b.stride]
    cell: Index = undo.cell
    near: Index
    k: Index
    change.count = 0
    memcpy(change.sums, survey.sums, cython.sizeof(survey.sums))
    for k in range(5):  # Step 1
        near = cell + around[k]
        kinds[k] = survey.kinds[near]
        if kinds[k] < 9:
            survey.kinds[near] = kind_table[b.word[b.to_move][near] >> 12][
                b.word[1 - b.to_move][near] >> 12
            ]
    survey.kinds[cell] = 10
    renew_around(b, survey, cython.address(change), cell)
    renew_points_of_changed(b, survey, cython.address(change), undo)  # Step 2
    for k in range(5):  # Step 3
        survey.kinds[cell + around[k]] = kinds[k]
    for k in range(change.count):
        survey.patterns[change.cells[k]] = change.patterns[k]
    return judge_sums(b, change.sums)


def renew_around(b, survey, change, cell):
    """Renew the patterns up to two cells from a new stone."""
    around: Index[4]
    around[:] = [-b.stride, 1, b.stride, -1]
    near: Index
    far: Index
    k: Index
    renew(b, survey, change, cell)
    for k in range(4):
        near = cell + around[k]
        if survey.kinds[near] == OUTSIDE:
            continue
        renew(b, survey, change, near)
        far = near + around[k]
        if survey.kinds[far] != OUTSIDE:
            renew(b, survey, change, far)
        far = near + around[(k + 1) & 3]
        if survey.kinds[far] != OUTSIDE:
            renew(b, survey, change, far)


def renew_points_of_changed(b, survey, change, undo):
    """Renew the patterns of the growth points of roots that have more or fewer now.

    The root that was played on may have either; the others have lost some, which shows
    if fewer than four are left.
    """
    color: Index = 1 - b.to_move
    root: Index = undo.root
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    word: uint32_t
    gain: Index = -1
    k: Index
    for k in range(4):
        word = b.word[color][undo.cell + around[k]] - ONE - root  # as it was before
        if word == 0:
            gain += 1
        elif is_single(word):
            if (word & SUM) == root:
                gain -= 1
            elif b.growth[word & SUM] < 4:
                renew_points(b, survey, change, color, word)
    if gain != 0 and (b.growth[root] < 4 or b.growth[root] - gain < 4):
        renew_points(b, survey, change, color, ONE + root)
    word = b.word[1 - color][undo.cell] & (FILLED - 1)
    if is_single(word) and b.growth[word & SUM] < 4:
        renew_points(b, survey, change, 1 - color, word)


def renew_points(b, survey, change, color, word):
    """Renew the patterns of the cells of a colour that have this word."""
    i: Index
    for i in range(b.count[color]):
        if b.word[color][b.legal[color][i]] == word:
            renew(b, survey, change, b.legal[color][i])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def renew(
    b: cython.pointer(Board),
    survey: cython.pointer(Survey),
    change: cython.pointer(Change),
    cell: Index,
) -> cython.void:
    """Bring the pattern at a cell up to date, and note what it was."""
    old: Index = survey.patterns[cell]
    new: Index = pattern_at(b, survey.kinds, cell)
    k: Index
    if new == old:
        return
    survey.patterns[cell] = new
    change.cells[change.count] = cell
    change.patterns[change.count] = old
    change.count += 1
    for k in range(PATTERN_LANES):
        change.sums[k] += pattern_weights[new][k] - pattern_weights[old][k]


def classify(b, kinds):
    """Write what each cell looks like from beside it, to the side to move.

    0 to 8: empty, 3 x own neighbours + enemy neighbours, more than two counted as two;
    9 own stone, 10 enemy stone, 11 off the board.
    """
    us: cython.pointer(uint16_t) = b.word[b.to_move]
    them: cython.pointer(uint16_t) = b.word[1 - b.to_move]
    rank: uint8_t[3]
    rank[:] = [0, 1, 2]
    rank[b.to_move] = 0
    rank[1 - b.to_move] = 1
    i: Index
    for i in range(b.cell_count):
        kinds[i] = kind_table[us[i] >> 12][them[i] >> 12]
        kinds[i] += rank[b.stone[i]] & -(us[i] >> 15)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def pattern_at(
    b: cython.pointer(Board), kinds: cython.pointer(uint8_t), cell: Index
) -> Index:
    """Return the number of the local pattern at a cell: itself and four neighbours."""
    quad: Index = kinds[cell - b.stride] * KINDS + kinds[cell + 1]
    quad = (quad * KINDS + kinds[cell + b.stride]) * KINDS + kinds[cell - 1]
    return quad_table[quad] + centre_of(b, cell, kinds[cell]) * QUADS


def centre_of(b, cell, kind):
    """Return what a cell looks like from itself, to the side to move.

    0 to 35: empty, 6 x own state + enemy state; a state is 0 without neighbour, 5 with
    more than one, else 1 to 4, the growth points of the neighbour's root (4 for more).
    36 own stone, 37 enemy stone.
    """
    if kind >= 9:
        return 36 + kind - 9
    us: uint32_t = b.word[b.to_move][cell]
    them: uint32_t = b.word[1 - b.to_move][cell]
    ours: Index = b.growth[us & SUM]
    theirs: Index = b.growth[them & SUM]
    ours = ours if ours < 4 else 4
    theirs = theirs if theirs < 4 else 4
    return state_table[us >> 12][ours] * 6 + state_table[them >> 12][theirs]


def network(inputs):
    """Return the network's log odds: a linear term and one hidden layer."""
    units: cython.float[HIDDEN]
    total: cython.float = weights.output_bias
    i: Index
    k: Index
    memcpy(units, weights.hidden_bias, cython.sizeof(units))
    for i in range(INPUTS):
        total += inputs[i] * weights.linear[i]
        for k in range(HIDDEN):
            units[k] += inputs[i] * weights.hidden[i][k]
    for k in range(HIDDEN):
        total += (units[k] if units[k] > 0 else 0) * weights.output[k]
    return total


def look_ahead(b, cell, effect):
    """Write what a placement by the side to move does; only its neighbours matter."""
    color: Index = b.to_move
    word: uint32_t = b.word[color][cell]
    root: Index = word & SUM
    around: Index[4]
    around[:] = [-b.stride, -1, 1, b.stride]
    spoilt: Index[4]
    i: Index
    k: Index
    effect.spoilt = 0
    effect.gain = -1  # the cell itself
    effect.loses = 0
    effect.takes = 0
    for k in range(4):
        word = b.word[color][cell + around[k]]
        if word == 0:
            effect.gain += 1
        elif is_single(word):
            if (word & SUM) == root:
                effect.gain -= 1
            else:
                spoilt[effect.spoilt] = word & SUM
                effect.spoilt += 1
    effect.left = b.growth[root] + effect.gain
    word = b.word[1 - color][cell]
    if is_single(word):
        k = b.growth[word & SUM]
        effect.takes = 4 - k if k < 3 else 1
    hits: Index
    for k in range(effect.spoilt):
        hits = 1
        for i in range(k):
            if spoilt[i] == spoilt[k]:
                hits += 1
        if hits == b.growth[spoilt[k]]:
            effect.loses += 1


def move_weight(b, cell):
    """Return how promising a legal cell looks for the side to move; above 0.

    The hand-set policy of the prototype (SEARCH.md C3).
    """
    effect: Effect
    look_ahead(b, cell, cython.address(effect))
    if effect.left == 0:
        return SELF_BOUNDING
    weight: cython.double = growth_weight[effect.gain - effect.spoilt + 4]
    if effect.takes != 0:
        weight *= TAKES_GROWTH
    if effect.takes == 3:
        weight *= REMOVES_ENEMY
    for _ in range(effect.loses):
        weight *= LOSES_OWN
    return weight


def effect_number(effect):
    """Return the number of an effect, below `EFFECTS`; extremes count as one."""
    number: Index = effect.left if effect.left < 4 else 4
    number = number * 7 + (effect.gain + 3 if effect.gain > -3 else 0)
    number = number * 3 + (effect.spoilt if effect.spoilt < 2 else 2)
    return (number * 2 + (effect.loses > 0)) * 4 + effect.takes


def learned_weight(b, kinds, cell):
    """Return the same by the learned policy; `kinds` is what `classify` wrote."""
    effect: Effect
    look_ahead(b, cell, cython.address(effect))
    log: Index = learned_log(b, kinds, cell, cython.address(effect))
    return policy_table[POLICY_MIDDLE + log]


def learned_log(b, kinds, cell, effect):
    """Return the logarithm of the weight, in `POLICY_STEPS`: of pattern and effect."""
    log: Index = policy_weights[pattern_at(b, kinds, cell)]
    log += effect_weights[effect_number(effect)]
    return max(-POLICY_MIDDLE, min(log, POLICY_MIDDLE))


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


def choose_recipe(recipe, b, kind):
    """Write how to search a board of this size, as matches have shown it best."""
    recipe.learned_value = kind == KIND_PUCT
    recipe.learned_prior = kind == KIND_PUCT
    recipe.exploration = EXPLORATION
    if kind == KIND_PUCT and b.width * b.height <= SMALL_AREA:
        recipe.exploration = SMALL_EXPLORATION
    recipe.batch = 4
    recipe.plies = 0 if kind == KIND_PUCT else PROTOTYPE_PLIES


def rollout(b, random, recipe):
    """Play a short informed game on `b`; return Black's win probability at its end."""
    ply: cython.int
    for ply in range(recipe.plies):
        if b.roots[BLACK] == 0 or b.roots[WHITE] == 0:
            break
        make_move(b, choose_rollout_move(b, random), cython.NULL)
    return learned_value(b) if recipe.learned_value else static_value(b)


# ---------------------------------------------------------------------------------
# 7 Tree search
#
# A result is always seen from the side that made the move of the node it is stored
# in. `proof` is an exact result: it comes from finished games and from the children
# (Winands, Bjornsson, Saito 2008), never from an evaluation. 1 + n: that side wins n
# turns later, as far as is proven; -1 - n: it loses so.
#
# Several workers may search one tree at once, without locks (Enzenberger, Mueller
# 2009). A descent counts in the visits of its path from its beginning on, and as a loss
# until its value is added: so workers keep out of each other's way.


def descend(t, w, most):
    """Make a few visits, at most `most`, that begin with the same busy moves.

    Step 1  Choose these moves (`choose_batch`). What `most` cuts off the last batch is
            made first: it must not matter to a search what slices it is made in.
    Step 2  Count the visits in the nodes above.
    Step 3  Make them (`descend_from`), until their node is proved.
    Step 4  Add their values to the nodes above, and pass proofs up.

    Returns:
        How many were made.
    """
    done: cython.int = 0
    i: cython.int
    total: int64_t = 0
    if w.left == 0 or read_proof(cython.address(w.path[w.top].proof)) != 0:
        choose_batch(t, w)  # Step 1
    top: cython.int = w.top
    wanted: cython.int = min(most, w.left)
    for i in range(top):  # Step 2
        visit(t, w.path[i], wanted)
    while done < wanted:  # Step 3
        total += descend_from(t, w, top)
        done += 1
        if read_proof(cython.address(w.path[top].proof)) != 0:
            break
    w.left -= done
    for i in range(top):
        visit(t, w.path[i], done - wanted)
    back_up(t, w, top - 1, 0, done, total)  # Step 4
    return done


def choose_batch(t, w):
    """Walk down from the searched position as long as the preferred child is busy.

    What one visit more tells of such a node is little, and what threads share is slow:
    so several visits are made below, and the nodes above are told at once.
    """
    b: cython.pointer(Board) = cython.address(w.anchor)
    node: cython.pointer(Node) = cython.address(t.nodes[t.root])
    copy_board(b, cython.address(t.start))
    w.top = 0
    w.left = 1
    w.path[0] = node
    while is_busy(t, node) and w.top < MAX_DEPTH // 2:
        node = select_puct(t, node)
        if not is_busy(t, node):
            break
        make_move(b, node.cell, cython.NULL)
        w.top += 1
        w.path[w.top] = node
        w.left = t.recipe.batch


def is_busy(t, node):
    """Tell whether visits below a node may be made several at once."""
    return (
        t.kind == KIND_PUCT
        and read_visits(cython.address(node.visits)) >= BUSY_VISITS
        and read_proof(cython.address(node.proof)) == 0
        and read_first(cython.address(node.first)) > EXPANDING
    )


def descend_from(t, w, top):
    """Make one visit: from a node to a leaf, and the leaf's value back up.

    Step 1  Start at the node at `top` of the path, with its position.
    Step 2  Walk down while the node has children. A node gets them on its second
            visit, which keeps the tree to what proved interesting once; later, where
            memory runs short.
    Step 3  At each node take the child that PUCT (or UCB1) prefers.
    Step 4  Stop at a node with a proof: nothing is left to find out there.
    Step 5  Value the leaf: exact if the game is over, else by the evaluation, behind a
            rollout where the recipe has one (UCT: a uniformly random game to the end).
    Step 6  Add the value to every node on the way, and pass proofs up.

    Returns:
        The value, Black's win probability, `in_units`.
    """
    b: cython.pointer(Board) = cython.address(w.board)
    depth: cython.int = top
    node: cython.pointer(Node) = w.path[top]
    copy_board(b, cython.address(w.anchor))  # Step 1
    visit(t, node, 1)
    while read_proof(cython.address(node.proof)) == 0 and depth < MAX_DEPTH - 1:
        if read_first(cython.address(node.first)) == UNBORN and is_ripe(t, node):
            if winner_of(b) >= 0:  # another worker is about to write its proof
                break
            expand(t, b, node)
        if read_first(cython.address(node.first)) <= EXPANDING:
            break
        if t.kind == KIND_UCT:
            node = select_uct(t, cython.address(w.random), node)
        else:
            node = select_puct(t, node)
        make_move(b, node.cell, cython.NULL)
        depth += 1
        w.path[depth] = node
        visit(t, node, 1)
    w.path[depth + 1] = cython.NULL
    value: int64_t = in_units(leaf_value(t, w, node))  # Step 5
    return back_up(t, w, depth, top, 1, value)  # Step 6


def visit(t, node, count):
    """Count descents through a node."""
    if t.shared:
        add_visits(cython.address(node.visits), count)
    else:
        node.visits += count


def is_ripe(t, node):
    """Tell whether a node has had the visits that its children's memory is worth.

    One, and more the fuller the tree is, from half on: it shall not stop growing where
    the search looks most.
    """
    before: uint32_t = read_visits(cython.address(node.visits)) - 1
    if t.kind != KIND_PUCT or before == 0:
        return before > 0
    sixteenths: uint64_t = read_visits(cython.address(t.used))
    sixteenths = sixteenths * 16 // t.capacity
    if before >> (sixteenths - 8 if sixteenths > 8 else 0) > 0:
        return True
    write_visits(cython.address(t.full), 1)
    return False


def expand(t, b, parent):
    """Give a node its children, if the tree has room and no other worker does so."""
    moves: uint32_t = b.count[b.to_move]
    if not claim(cython.address(parent.first)):
        return
    first: uint32_t = add_visits(cython.address(t.used), moves)
    if first > t.capacity - moves:
        add_visits(cython.address(t.used), -moves)
        write_visits(cython.address(t.full), 1)
        write_first(cython.address(parent.first), UNBORN)
        return
    parent.count = moves
    add_children(t, b, parent, cython.address(t.nodes[first]))
    write_first(cython.address(parent.first), first)


def add_children(t, b, parent, child):
    """Make the block of a node's children, with normalised priors."""
    kinds: uint8_t[CELLS]
    total: cython.double = 0
    weight: cython.double
    cell: Index
    i: Index
    if t.recipe.learned_prior:
        classify(b, kinds)
    for i in range(b.count[b.to_move]):
        cell = b.legal[b.to_move][i]
        weight = 1
        if t.recipe.learned_prior:
            weight = learned_weight(b, kinds, cell)
        elif t.kind != KIND_UCT:
            weight = move_weight(b, cell)
        clear_node(cython.address(child[i]))
        child[i].cell = cell
        child[i].prior = weight
        child[i].parent = parent - t.nodes
        total += weight
    child.block = b.count[b.to_move]
    for i in range(b.count[b.to_move]):
        child[i].prior /= total


def clear_node(node):
    """Make a node without visits, children and proof."""
    memset(node, 0, cython.sizeof(Node))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_restricted(
    t: cython.pointer(Tree), parent: cython.pointer(Node)
) -> cython.bint:
    """Tell whether only some moves of a node are searched: not those `excluded`."""
    return t.restricted and parent == t.nodes + t.root


def select_puct(t, parent):
    """Return the child with the largest mean + c * prior * sqrt(N) / (1 + n).

    An unvisited child counts with its parent's mean (first-play urgency). Proven
    losses are passed over; a parent whose children all lose is proven itself.
    """
    visits: cython.double = read_visits(cython.address(parent.visits)) - 1
    reach: cython.double = t.recipe.exploration * sqrt(visits)
    urgency: cython.double = 0.5
    if visits > 0:
        urgency = 1 - read_total(cython.address(parent.total)) / visits
    barred: cython.bint = is_restricted(t, parent)
    first: uint32_t = read_first(cython.address(parent.first))
    child: cython.pointer(Node) = cython.address(t.nodes[first])
    best: cython.pointer(Node) = child
    most: cython.double = -1
    score: cython.double
    seen: uint32_t
    i: cython.int
    for i in range(parent.count):
        if read_proof(cython.address(child.proof)) >= 0 and not (
            barred and t.excluded[child.cell]
        ):
            seen = read_visits(cython.address(child.visits))
            score = urgency
            if seen != 0:
                score = read_total(cython.address(child.total)) / seen
            score += reach * child.prior / (1 + seen)
            if score > most:
                most = score
                best = child
        child += 1
    return best


def select_uct(t, random, parent):
    """Return the child that UCB1 prefers; unvisited ones first, at random."""
    first: uint32_t = read_first(cython.address(parent.first))
    child: cython.pointer(Node) = cython.address(t.nodes[first])
    best: cython.pointer(Node) = child
    most: cython.double = -1
    score: cython.double
    visits: uint32_t = read_visits(cython.address(parent.visits))
    spread: cython.double = natural_log(max(visits, 2) - 1)
    barred: cython.bint = is_restricted(t, parent)
    seen: uint32_t
    i: cython.int
    for i in range(parent.count):
        if read_proof(cython.address(child.proof)) >= 0 and not (
            barred and t.excluded[child.cell]
        ):
            seen = read_visits(cython.address(child.visits))
            if seen == 0:
                score = 1e3 + random_below(random, 1 << 20)
            else:
                score = read_total(cython.address(child.total)) / seen
                score += UCT_EXPLORATION * sqrt(spread / seen)
            if score > most:
                most = score
                best = child
        child += 1
    return best


def leaf_value(t, w, leaf):
    """Return Black's win probability at a leaf; prove it if the game is over."""
    b: cython.pointer(Board) = cython.address(w.board)
    winner: cython.int = winner_of(b)
    proof: cython.int = read_proof(cython.address(leaf.proof))
    if winner >= 0 and proof == 0:
        proof = 1 if winner != b.to_move else -1
        write_proof(cython.address(leaf.proof), proof)
    if proof != 0:
        return 1 if (proof > 0) == (b.to_move == WHITE) else 0
    if t.kind == KIND_UCT:
        random_game(b, cython.address(w.random))
        return 1 if b.roots[WHITE] == 0 else 0
    return rollout(b, cython.address(w.random), cython.address(t.recipe))


def back_up(t, w, depth, top, count, total):
    """Add values along the path, from `depth` up to `top`, and pass proofs up.

    Args:
        t: the tree.
        w: whose path.
        depth: where to begin.
        top: where to end.
        count: of how many visits.
        total: sum of their values, Black's, `in_units`.

    Returns:
        The sum as it is at `top`: the exact one where a proof came up.
    """
    node: cython.pointer(Node)
    child: cython.pointer(Node) = w.path[depth + 1]
    mover: cython.int = 1 - t.start.to_move if depth % 2 == 0 else t.start.to_move
    proof: cython.int
    result: int64_t
    i: cython.int
    for i in range(depth, top - 1, -1):
        node = w.path[i]
        if child != cython.NULL and read_proof(cython.address(child.proof)) != 0:
            proof = proof_from_children(t, node)
            if proof != 0:
                write_proof(cython.address(node.proof), proof)
                total = in_units(count) if (proof > 0) == (mover == BLACK) else 0
        child = node
        result = total if mover == BLACK else in_units(count) - total
        if t.shared:
            add_sum(cython.address(node.total), result)
        else:
            node.total += result
        mover = 1 - mover
    return total


def proof_from_children(t, parent):
    """Return a node's proof: lost if one reply wins, won if every reply loses, else 0.

    Of winning replies the quickest counts, of losing ones the slowest.
    """
    first: uint32_t = read_first(cython.address(parent.first))
    child: cython.pointer(Node) = cython.address(t.nodes[first])
    barred: cython.bint = is_restricted(t, parent)
    quickest: cython.int = 0
    slowest: cython.int = 0
    is_open: cython.bint = False
    proof: cython.int
    i: cython.int
    for i in range(parent.count):
        if not (barred and t.excluded[child[i].cell]):
            proof = read_proof(cython.address(child[i].proof))
            if proof > 0 and (quickest == 0 or proof < quickest):
                quickest = proof
            if proof == 0:
                is_open = True
            elif -proof > slowest:
                slowest = -proof
    if quickest != 0:
        return -1 - quickest
    return 0 if is_open else 1 + slowest


def best_child(t, parent):
    """Return the child to play, the best by `is_better`; none that is excluded."""
    first: uint32_t = read_first(cython.address(parent.first))
    child: cython.pointer(Node) = cython.address(t.nodes[first])
    barred: cython.bint = is_restricted(t, parent)
    best: cython.pointer(Node) = cython.NULL
    one: Node
    two: Node
    i: cython.int
    for i in range(parent.count):
        if not (barred and t.excluded[child[i].cell]):
            one = snapshot(cython.address(child[i]))
            if best == cython.NULL or is_better(
                cython.address(one), cython.address(two)
            ):
                best = cython.address(child[i])
                two = one
    return best


def snapshot(node):
    """Return what a move has come to by now, while others may change it."""
    copy: Node
    clear_node(cython.address(copy))
    copy.cell = node.cell
    copy.prior = node.prior
    copy.proof = read_proof(cython.address(node.proof))
    copy.total = read_sum(cython.address(node.total))
    copy.visits = read_visits(cython.address(node.visits))
    return copy


def is_better(one, two):
    """Tell whether a move is better than another of the same position.

    A proven win (the quicker, the better) beats an open move, which beats a proven loss
    (the slower, the better). Then visits count, the mean, and the prior.
    """
    if one.proof != two.proof:
        if (one.proof > 0) != (two.proof > 0):
            return one.proof > 0
        if (one.proof < 0) != (two.proof < 0):
            return two.proof < 0
        return one.proof < two.proof
    if one.visits != two.visits:
        return one.visits > two.visits
    if mean_result(one) != mean_result(two):
        return mean_result(one) > mean_result(two)
    return one.prior > two.prior


def mean_result(node):
    """Return the mean result of a node; an unvisited one counts as even.

    At most 1, although others may have changed one number and not yet the other.
    """
    if node.visits == 0:
        return 0.5
    return min(1.0, read_total(cython.address(node.total)) / node.visits)


def plant(t):
    """Begin a new tree at the searched position."""
    t.full = 0
    t.root = 2
    t.used = 3
    clear_node(cython.address(t.nodes[t.root]))
    t.nodes[t.root].block = 1


def unsettle(t):
    """Change the priors of the root a little by the seed, so that games differ."""
    child: cython.pointer(Node) = cython.address(t.nodes[t.nodes[t.root].first])
    random: cython.pointer(Random) = cython.address(t.workers.random)
    total: cython.double = 0
    i: cython.int
    if t.kind != KIND_PUCT:
        return
    for i in range(t.nodes[t.root].count):
        child[i].prior *= 0.9 + 0.2 / (1 << 20) * random_below(random, 1 << 20)
        total += child[i].prior
    for i in range(t.nodes[t.root].count):
        child[i].prior /= total


def pass_gain_up(t):
    """Tell the nodes above the root what was found since it is the root.

    They are searched again when moves are taken back.
    """
    root: cython.pointer(Node) = cython.address(t.nodes[t.root])
    visits: uint32_t = root.visits - t.known_visits
    gain: int64_t = root.total - t.known_total
    node: cython.pointer(Node) = root
    while node.parent != 0:
        node = cython.address(t.nodes[node.parent])
        gain = in_units(visits) - gain
        node.visits += visits
        node.total += gain
        if node.proof == 0:
            node.proof = proof_from_children(t, node)


def find_child(t, parent, cell):
    """Return the index of the child of a node that plays on a cell, or 0."""
    first: uint32_t = t.nodes[parent].first
    i: uint32_t
    for i in range(t.nodes[parent].count if first > EXPANDING else 0):
        if t.nodes[first + i].cell == cell:
            return first + i
    return 0


def collect(t):
    """Make room: forget every node that the root does not reach.

    Blocks keep their order and slide down over those that go.
    """
    if t.root == 2:
        return
    keep_reachable(t)
    t.nodes[2] = t.nodes[t.root]
    t.nodes[2].parent = 0
    t.nodes[2].block = 1
    if t.nodes[2].first > EXPANDING:
        t.nodes[t.nodes[2].first].parent = 2
    source: uint32_t = 3
    target: uint32_t = 3
    size: uint32_t
    while source < t.used:
        size = t.nodes[source].block & (KEPT - 1)
        if t.nodes[source].block & KEPT:
            target = move_block(t, source, target, size)
        source += size
    t.used = target
    t.root = 2
    t.full = 0


def keep_reachable(t):
    """Mark the nodes of every block below the root; parents come before children."""
    head: uint32_t = 3
    parent: uint32_t
    size: uint32_t
    i: uint32_t
    while head < t.used:
        size = t.nodes[head].block
        parent = t.nodes[head].parent
        if parent == t.root or t.nodes[parent].block & KEPT:
            for i in range(size):
                t.nodes[head + i].block |= KEPT
        head += size


def move_block(t, source, target, size):
    """Move a block down, tell its parent and its children; return where it ends."""
    parent: uint32_t = t.nodes[source].parent
    i: uint32_t
    for i in range(size):
        t.nodes[target + i] = t.nodes[source + i]
        t.nodes[target + i].block &= KEPT - 1
        t.nodes[target + i].parent = parent
        if t.nodes[target + i].first > EXPANDING:
            t.nodes[t.nodes[target + i].first].parent = target + i
    t.nodes[parent].first = target
    return target + size


# ---------------------------------------------------------------------------------
# 8 What Python sees


def side_of(color):
    """Return a colour that Python gives, to index arrays with (ValueError)."""
    if color not in (BLACK, WHITE):
        raise ValueError(f"a colour is 0 or 1, not {color}")
    return color


def require_weights():
    """Refuse to evaluate before `load_weights` (RuntimeError)."""
    if not weights_are_loaded:
        raise RuntimeError("import tanbo_engine.weights first")
    return 0


def cell_of(b, point):
    """Return the cell of a point; `Position.point_of` goes the other way."""
    return (point // b.width + 1) * b.stride + point % b.width + 1


@cython.final
@cython.cclass
class StopFlag:
    """Ends the work it was given to, from any thread. Cannot be unset."""

    def set(self):
        """Ask the work to end."""
        write_visits(cython.address(self.flag), 1)

    @property
    def is_set(self):
        """Whether the work has been asked to end."""
        return read_visits(cython.address(self.flag)) != 0


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
                cell = cell_of(b, point)
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
        cell: Index = cell_of(cython.address(self.board), point)
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
        undo: cython.pointer(Undo) = cython.address(self.history[self.turn_count])
        make_move(b, cell_of(b, point), undo)
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
        """Return the learned win probability of the side to move, 0 to 1."""
        require_weights()
        value = learned_value(cython.address(self.board))
        return value if self.board.to_move == BLACK else 1 - value

    def move_weights(self):
        """Return (point, weight) of every legal move: the unnormalised priors."""
        b: cython.pointer(Board) = cython.address(self.board)
        kinds: uint8_t[CELLS]
        i: cython.int
        require_weights()
        if self.winner >= 0:
            return []
        classify(b, kinds)
        cells = [b.legal[b.to_move][i] for i in range(b.count[b.to_move])]
        return sorted(
            [(self.point_of(cell), learned_weight(b, kinds, cell)) for cell in cells]
        )

    def features(self):
        """Return what the learned evaluation and policy look at, for training.

        Returns:
            The number of the local pattern at every point (uint32 each); the counts
            that enter the network beside the sums of the patterns' lanes; (point,
            number of its pattern, number of its effect) of every legal move.
        """
        b: cython.pointer(Board) = cython.address(self.board)
        kinds: uint8_t[CELLS]
        patterns: uint32_t[CELLS]
        counts: cython.float[COUNTS]
        effect: Effect
        cell: Index
        point: Index
        points: Index = b.width * b.height
        i: cython.int
        classify(b, kinds)
        count_whole(b, counts)
        for point in range(points):
            patterns[point] = pattern_at(b, kinds, cell_of(b, point))
        moves = []
        for i in range(b.count[b.to_move] if self.winner < 0 else 0):
            cell = b.legal[b.to_move][i]
            look_ahead(b, cell, cython.address(effect))
            number = effect_number(cython.address(effect))
            moves.append((self.point_of(cell), pattern_at(b, kinds, cell), number))
        raw: cython.p_char = cython.cast(cython.p_char, patterns)
        size: Index = points * cython.sizeof(uint32_t)
        return raw[:size], tuple([counts[i] for i in range(COUNTS)]), sorted(moves)

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
            if read_visits(cython.address(flag.flag)):
                break
            copy_board(cython.address(board), cython.address(start))
            moves += random_game(cython.address(board), cython.address(random))
            if board.roots[WHITE] == 0:
                black += 1
            else:
                white += 1
    return moves, black, white


def load_weights(numbers: bytes, lanes: bytes, policy: bytes, rest: bytes):
    """Take over the weights of the learned evaluation and policy.

    Args:
        numbers: uint32 each, the patterns that have weights; all others are worth 0.
        lanes: `LANES` int16 for each of them.
        policy: int16 for each of them.
        rest: `EFFECTS` int16, then a `Weights` structure.

    Raises:
        ValueError: wrong sizes, a pattern that there is not, or a weight that is no
            number.
    """
    global weights_are_loaded
    count: cython.size_t = len(numbers) // 4
    if (
        len(numbers) != 4 * count
        or len(lanes) != 2 * PATTERN_LANES * count
        or len(policy) != 2 * count
    ):
        raise ValueError("pattern numbers and weights do not belong together")
    size: cython.size_t = cython.sizeof(effect_weights) + cython.sizeof(Weights)
    if len(rest) != size:
        raise ValueError(f"{len(rest)} bytes of other weights instead of {size}")
    number: cython.pointer(uint32_t) = cython.cast(
        cython.pointer(uint32_t), cython.cast(cython.p_char, numbers)
    )
    values: cython.p_char = lanes
    moves: cython.p_char = policy
    others: cython.p_char = rest
    width: cython.size_t = 2 * PATTERN_LANES
    i: cython.size_t
    for i in range(count):
        if number[i] >= CENTRES * QUADS:
            raise ValueError(f"no pattern has the number {number[i]}")
    network: cython.pointer(Weights) = cython.cast(
        cython.pointer(Weights), others + cython.sizeof(effect_weights)
    )
    if not (is_finite(network) and network.scale > 0):
        raise ValueError("a weight of the network is no number, or its scale not > 0")
    memset(pattern_weights, 0, cython.sizeof(pattern_weights))
    memset(policy_weights, 0, cython.sizeof(policy_weights))
    for i in range(count):
        memcpy(pattern_weights[number[i]], values + i * width, width)
        memcpy(cython.address(policy_weights[number[i]]), moves + i * 2, 2)
    memcpy(effect_weights, others, cython.sizeof(effect_weights))
    memcpy(cython.address(weights), network, cython.sizeof(Weights))
    weights_are_loaded = True


def is_finite(network):
    """Tell whether all weights of a network are numbers."""
    value: cython.pointer(cython.float) = network.linear
    i: cython.size_t
    for i in range(cython.sizeof(Weights) // cython.sizeof(cython.float)):
        if not -1e9 < value[i] < 1e9:
            return False
    return True


@cython.final
@cython.cclass
class Search:
    """A tree search of one position after another.

    Args:
        memory: bound of the tree in bytes; taken at the first `start`.
        kind: PUCT, or a yardstick that is never tuned: UCT (UCB1, uniformly random
            games) or PUCT0 (the prototype recipe of SEARCH.md C3).
        workers: how many threads may `run` at once, 1 to 256.
        recipe: what to do otherwise than `choose_recipe` says, for experiments.

    Raises:
        MemoryError: this machine does not give that much.
    """

    def __init__(self, memory, kind=PUCT, workers=1, recipe=None):
        if kind not in (PUCT, UCT, PUCT0):
            raise ValueError(f"kind is PUCT, UCT or PUCT0, not {kind}")
        if not 1 <= workers <= MOST_WORKERS:
            raise ValueError(f"workers are 1 to {MOST_WORKERS}, not {workers}")
        if kind == PUCT:
            require_weights()
        self.memory = memory
        self.changes = dict(recipe or {})
        t: cython.pointer(Tree) = cython.address(self.tree)
        t.kind = kind
        t.shared = workers > 1
        t.workers = cython.cast(
            cython.pointer(Worker), malloc(workers * cython.sizeof(Worker))
        )
        self.worker_count = workers
        # Asked for and given back at once: it is better to fail now than in a game.
        self.take_memory()
        free(self.room)
        self.room = cython.NULL
        t.nodes = cython.NULL

    def __dealloc__(self):
        free(self.room)
        free(self.tree.workers)

    def start(self, position: Position, seed, undone=None, played=(), only=()):
        """Begin to search a position.

        The search depends on the position, not on the moves that led to it, unless the
        former tree is used again.

        Args:
            position: where; it must not change until the search has been read out.
            seed: of every random choice.
            undone: how many moves were taken back from the position searched last,
                before `played`; None forgets the former tree. What it knows of this
                position is used again.
            played: points played since then.
            only: points to choose from; empty for every legal one. The tree is of no
                use to the next search then.

        Raises:
            ValueError: the game is over, or `only` has a point that is not legal.
            MemoryError: the tree does not fit into memory; nothing has changed then.
        """
        if position.winner >= 0:
            raise ValueError("the game is over: there is nothing to search")
        for point in only:
            if not position.is_legal(position.board.to_move, point):
                raise ValueError(f"point {point} is not legal")
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            self.take_memory()
        is_known = undone is not None and self.is_started and not t.restricted
        self.is_started = True
        rebuild(cython.address(t.start), cython.address(position.board))
        self.exclude(only)
        if not (is_known and not only and self.reroot(undone, played)):
            plant(t)
        choose_recipe(cython.address(t.recipe), cython.address(t.start), t.kind)
        self.change_recipe()
        i: cython.int
        for i in range(self.worker_count):
            seed_random(cython.address(t.workers[i].random), seed + i)
            t.workers[i].anchor = t.start
            t.workers[i].board = t.start
            t.workers[i].left = 0
        if t.nodes[t.root].first == UNBORN:
            expand(t, cython.address(t.start), cython.address(t.nodes[t.root]))
            unsettle(t)
        t.known_visits = t.nodes[t.root].visits
        t.known_total = t.nodes[t.root].total
        self.position = position

    def reroot(self, undone, played):
        """Make the node of the new position the root; False if there is none."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        node: uint32_t = t.root
        pass_gain_up(t)
        for _ in range(undone):
            node = t.nodes[node].parent
            if node == 0:
                return False
        for point in played:
            node = find_child(t, node, cell_of(cython.address(t.start), point))
            if node == 0:
                return False
        t.root = node
        if t.used > t.capacity // 2:
            collect(t)
        return t.nodes[t.root].first != UNBORN or t.used < t.capacity - CELLS

    def exclude(self, only):
        """Note which moves are not searched at the root: all but `only`, if any."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        t.restricted = len(only) > 0
        memset(t.excluded, 1, cython.sizeof(t.excluded))
        for point in only:
            t.excluded[cell_of(cython.address(t.start), point)] = 0
        return 0

    def change_recipe(self):
        """Take over what the caller wants done otherwise."""
        recipe: cython.pointer(Recipe) = cython.address(self.tree.recipe)
        wanted = self.changes.get
        recipe.learned_value = wanted("learned_value", recipe.learned_value)
        recipe.learned_prior = wanted("learned_prior", recipe.learned_prior)
        recipe.plies = wanted("plies", recipe.plies)
        recipe.exploration = wanted("exploration", recipe.exploration)
        recipe.batch = wanted("batch", recipe.batch)
        return 0

    def take_memory(self):
        """Take room for the tree: at least two nodes of the largest board."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.workers == cython.NULL:
            raise MemoryError("this machine has no memory for the threads of a search")
        count = max(self.memory // cython.sizeof(Node), 2 * CELLS)
        count = min(count, (1 << 32) - 1)
        size: cython.size_t = count * cython.sizeof(Node)
        self.room = malloc(size + CACHE_LINE)
        if self.room == cython.NULL:
            raise MemoryError(f"this machine has no {size >> 20} MB for a search tree")
        # Two nodes a line, none across two: half the misses, less for threads to share.
        place: cython.size_t = cython.cast(cython.size_t, self.room) + CACHE_LINE - 1
        place -= place % CACHE_LINE
        t.nodes = cython.cast(cython.pointer(Node), place)
        t.capacity = count
        return 0

    def run(self, visits, stop: StopFlag, worker=0, until=MOST_VISITS):
        """Make visits until their number, a proof of the root, or the flag.

        Several threads may do so at once, each as a worker of its own.

        Args:
            visits: how many this worker makes.
            stop: ends the work.
            worker: which one, below the number of `workers`.
            until: ends the work when the root has as many visits, of all workers.

        Returns:
            The visits made; fewer than asked for if something else ended the work.
        """
        t: cython.pointer(Tree) = cython.address(self.tree)
        if not self.is_started:
            raise ValueError("start a search first")
        if not 0 <= worker < self.worker_count:
            raise ValueError(f"there is no worker {worker}")
        w: cython.pointer(Worker) = cython.address(t.workers[worker])
        root: cython.pointer(Node) = cython.address(t.nodes[t.root])
        wanted: uint32_t = visits
        most: uint32_t = until
        before: uint32_t
        done: uint32_t = 0
        with cython.nogil:
            while (
                done < wanted
                and read_visits(cython.address(stop.flag)) == 0
                and read_proof(cython.address(root.proof)) == 0
            ):
                before = read_visits(cython.address(root.visits))
                if before >= most:
                    break
                done += descend(t, w, min(wanted - done, most - before))
        return done

    @property
    def workers(self):
        """How many threads may search at once."""
        return self.worker_count

    @property
    def visits(self):
        """Visits of the position, those of a tree that was used again included."""
        if not self.is_started:
            return 0
        return read_visits(cython.address(self.tree.nodes[self.tree.root].visits))

    @property
    def tree_nodes(self):
        """Nodes of the tree, the root included."""
        if not self.is_started:
            return 0
        return read_visits(cython.address(self.tree.used)) - 2

    @property
    def is_full(self):
        """Whether the memory bound has kept the tree from growing."""
        return read_visits(cython.address(self.tree.full)) != 0

    @property
    def proof(self):
        """1 if the side to move is proven to win, -1 if it is to lose, else 0."""
        if not self.is_started:
            return 0
        proof = read_proof(cython.address(self.tree.nodes[self.tree.root].proof))
        return (proof < 0) - (proof > 0)

    @property
    def distance(self):
        """Turns to the end of the game, as far as it is proven, or 0."""
        if not self.is_started:
            return 0
        proof = read_proof(cython.address(self.tree.nodes[self.tree.root].proof))
        return abs(proof) - 1 if proof != 0 else 0

    @property
    def value(self):
        """Win probability of the side to move, 0 to 1."""
        if not self.is_started:
            return 0.5
        if self.proof != 0:
            return (self.proof + 1) / 2
        root = self.tree.nodes + self.tree.root
        copy: Node = snapshot(best_child(cython.address(self.tree), root))
        return mean_result(cython.address(copy))

    def moves(self):
        """Return (point, visits, value, prior, proof) of every move, best first.

        Value and proof are those of the side to move. Of an unfinished search of other
        threads, numbers may be a visit apart.
        """
        t: cython.pointer(Tree) = cython.address(self.tree)
        if not self.is_started:
            return []
        child: cython.pointer(Node)
        i: cython.int
        found = []
        for i in range(t.nodes[t.root].count):
            child = cython.address(t.nodes[t.nodes[t.root].first + i])
            if t.restricted and t.excluded[child.cell]:
                continue
            copy: Node = snapshot(child)
            mean = mean_result(cython.address(copy))
            proof = (copy.proof > 0) - (copy.proof < 0)
            value = mean if proof == 0 else (proof + 1) / 2
            # As in `is_better`: 1 / proof grows with quicker wins and slower losses.
            grade = 1.0 / copy.proof if copy.proof != 0 else 0.0
            rank = (grade, copy.visits, mean, copy.prior)
            point = self.position.point_of(copy.cell)
            found.append((rank, (point, copy.visits, value, copy.prior, proof)))
        found.sort(key=lambda ranked: ranked[0], reverse=True)
        return [move for _, move in found]

    def best_move(self):
        """Return the point to play."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if not self.is_started:
            raise ValueError("start a search first")
        return self.position.point_of(best_child(t, t.nodes + t.root).cell)

    def principal_variation(self):
        """Return the points of best play as far as it has been visited."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if not self.is_started:
            return []
        return self.line_from(best_child(t, t.nodes + t.root))

    def variations(self):
        """Return such a line for every move, in the order of `moves`."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        i: cython.int
        if not self.is_started:
            return []
        lines = {}
        for i in range(t.nodes[t.root].count):
            line = self.line_from(cython.address(t.nodes[t.nodes[t.root].first + i]))
            lines[line[0]] = line
        return [lines[move[0]] for move in self.moves()]

    def line_from(self, node):
        """Return the points of best play from a child of the root, its own first."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        line = [self.position.point_of(node.cell)]
        while read_first(cython.address(node.first)) > EXPANDING:
            node = best_child(t, node)
            if read_visits(cython.address(node.visits)) == 0:
                break
            line.append(self.position.point_of(node.cell))
        return line

    def check_tree(self, most_own=MOST_VISITS):
        """Look for contradictions in the tree while no worker is at work: for tests.

        Args:
            most_own: how many visits may have ended at a node with children and without
                proof: 1 if there is one worker and memory has not run short.

        Returns:
            An empty text, or what is wrong.
        """
        if not self.is_started:
            return ""
        board: Board = self.tree.start
        return self.check_blocks() or self.check_node(
            cython.address(board), self.tree.root, most_own
        )

    def check_blocks(self):
        """Check that blocks tile the memory and know their parents (`check_tree`)."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        head: uint32_t = 3
        size: uint32_t
        child: cython.pointer(Node)
        i: uint32_t
        if not (2 <= t.root < t.used <= t.capacity):
            return "bounds of the tree"
        while head < t.used:
            child = cython.address(t.nodes[head])
            size = child.block
            if not (0 < size <= t.used - head and 2 <= child.parent < head):
                return f"block {head}"
            if t.nodes[child.parent].first != head:
                return f"parent of block {head}"
            if t.nodes[child.parent].count != size:
                return f"size of block {head}"
            for i in range(1, size):
                if child[i].parent != child.parent or child[i].block != 0:
                    return f"node {head + i} of block {head}"
            if abs(sum([child[i].prior for i in range(size)]) - 1) > 1e-4:
                return f"priors of block {head}"
            head += size
        return ""

    def check_node(self, b, index, most_own):
        """Check a node, whose board is given, and all below it, for `check_tree`."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        node: cython.pointer(Node) = cython.address(t.nodes[index])
        child: cython.pointer(Node)
        undo: Undo
        visits: uint64_t = 0
        i: cython.int
        if not 0 <= node.total <= in_units(node.visits):
            return f"total of node {index}"
        if node.first == UNBORN:
            return ""
        child = cython.address(t.nodes[node.first])
        if node.first <= index or node.first >= t.used or child.parent != index:
            return f"children of node {index}"
        cells = sorted([child[i].cell for i in range(node.count)])
        if winner_of(b) >= 0 or cells != sorted(
            [b.legal[b.to_move][i] for i in range(b.count[b.to_move])]
        ):
            return f"moves of node {index}"
        for i in range(node.count):
            visits += child[i].visits
            make_move(b, child[i].cell, cython.address(undo))
            text = self.check_node(b, node.first + i, most_own)
            unmake_move(b, cython.address(undo))
            if text:
                return text
        if visits > node.visits:
            return f"visits of node {index}"
        if node.proof == 0 and node.visits - visits > most_own:
            return f"own visits of node {index}"
        return self.check_proof(index)

    def check_proof(self, index):
        """Check the proof of a node with children, for `check_tree`.

        Several workers may leave it for the next visit to find.
        """
        t: cython.pointer(Tree) = cython.address(self.tree)
        known: cython.int = t.nodes[index].proof
        proof: cython.int = proof_from_children(t, cython.address(t.nodes[index]))
        if (proof > 0) == (known > 0) and (proof < 0) == (known < 0):
            return ""
        return "" if t.shared and known == 0 else f"proof of node {index}"


fill_tables()
fill_pattern_tables()
