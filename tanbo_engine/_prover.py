"""The compiled prover: who wins a position, for certain.

Depth-first proof-number search (df-pn; Nagai 2002) in Cython's pure Python mode, on
the positions of ``_kernel.py``. The structures are in ``_prover.pxd``, the types that
Python sees in ``_prover.pyi``. Nothing here prints or reads a clock; the work runs
without the GIL, in memory of a fixed size.

Chapters: 1 keys, 2 the table, 3 the search, 4 what Python sees.

Why a proof may use the table whatever the path to a position was: no position can occur
twice in a game (RULES.md P4), so positions form a graph without cycles, and who wins
depends on the position alone. Transpositions only make numbers too large, which costs
time and never truth. For that reason a disproof number is the largest of the children's
plus the number of the others (weak proof numbers; Ueda and others 2008), not their sum.

Measured in millions of moves made, on classic-5x5, dense-3x7 and dense-3x9: this search
0.22, 1.8 and 178; with guesses from growth points alone, which are two to three times
as fast, 0.38, 1.8 and 307 (3x9: 88 seconds and 141); these with sums of proof numbers
1.2 and 3.4; with equal guesses 2.9 and 9.3; alpha-beta on won or lost with the same
table, and growth points for its order, 0.79 and 2.4. On six positions of dense-5x7
after fourteen random plies: this search 0.04 to 42, growth points alone 0.04 to 86 and
once more than 100.
"""

import cython
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memset
from cython.cimports.tanbo_engine._kernel import (
    NOBODY,
    logit_after,
    make_move,
    next_random,
    read_stones,
    rebuild,
    require_weights,
    seed_random,
    take_survey,
    unmake_move,
)

COMPILED: bool = cython.compiled

# ---------------------------------------------------------------------------------
# 1 Keys
#
# A key stands for a position and all that mirror it, turn it, or swap its colours
# along with the side to move: the smallest of their numbers. A position's number is
# the sum of a weight for each stone of the side to move and of twice the weight for
# each other stone. With powers of 3 for weights no two positions share a number; boards
# of more than 40 points have random weights instead, so there two of 2**64 numbers may
# coincide, and a certificate is what removes that doubt.


def weigh_cells(w, width, height):
    """Fill the weights of all cells under every symmetry of the board."""
    weight: uint64_t = 1
    random: Random
    row: Index
    column: Index
    x: Index
    y: Index
    k: cython.int
    seed_random(cython.address(random), SCATTER)
    memset(w.weight, 0, cython.sizeof(w.weight))
    w.symmetries = 8 if width == height else 4
    for row in range(height):
        for column in range(width):
            if width * height > MOST_DIGITS:
                weight = next_random(cython.address(random))
            for k in range(w.symmetries):
                x = width - 1 - column if k & 1 else column
                y = height - 1 - row if k & 2 else row
                if k & 4:
                    x, y = y, x
                w.weight[(y + 1) * (width + 1) + x + 1][k] = weight
            weight *= 3


def add_up(w, sums):
    """Add up the weights of all stones on the board."""
    stones: uint8_t[CELLS]
    cell: Index
    k: cython.int
    read_stones(cython.address(w.board), stones)
    memset(sums, 0, cython.sizeof(Sums))
    for cell in range(w.board.cell_count):
        if stones[cell] != NOBODY:
            for k in range(MOST_SYMMETRIES):
                sums.of[stones[cell]][k] += w.weight[cell][k]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def follow(
    w: cython.pointer(Work), sums: cython.pointer(Sums), undo: cython.pointer(Undo)
) -> cython.void:
    """Change the sums as the last move has changed the board."""
    color: Index = 1 - w.board.to_move
    at: Index
    i: cython.int
    k: cython.int
    for k in range(MOST_SYMMETRIES):
        sums.of[color][k] += w.weight[undo.cell][k]
    for i in range(undo.removed_count):
        at = undo.removed[i]
        color = w.board.owner[at]
        while at != 0:
            for k in range(MOST_SYMMETRIES):
                sums.of[color][k] -= w.weight[at][k]
            at = w.board.next[at]


def canonical(w, sums, to_move):
    """Return the key of a position from its sums."""
    least: uint64_t = sums.of[to_move][0] + 2 * sums.of[1 - to_move][0]
    other: uint64_t
    k: cython.int
    for k in range(1, w.symmetries):
        other = sums.of[to_move][k] + 2 * sums.of[1 - to_move][k]
        least = other if other < least else least
    return least


# ---------------------------------------------------------------------------------
# 2 The table
#
# A position has one bucket. A new entry takes the place of the one with the least
# effort there, so that what was cheap is forgotten first.


def bucket_of(w, key):
    """Return the bucket of a key."""
    mixed: uint64_t = (key ^ (key >> 29)) * SCATTER
    mixed = (mixed ^ (mixed >> 32)) * SCATTER
    return w.table + ((mixed >> 32) * w.buckets >> 32) * BUCKET


def look_up(w, key, numbers):
    """Read the numbers of a position; return False and leave them if it is unknown."""
    entry: cython.pointer(Entry) = bucket_of(w, key)
    i: cython.int
    for i in range(BUCKET):
        if entry[i].key == key and entry[i].packed != 0:
            numbers.proof = entry[i].packed & NEVER
            numbers.disproof = (entry[i].packed >> NUMBER_BITS) & NEVER
            return True
    return False


def store(w, key, numbers, effort):
    """Keep the numbers of a position, which took so many moves to find."""
    entry: cython.pointer(Entry) = bucket_of(w, key)
    place: cython.pointer(Entry) = entry
    rank: uint64_t = log_effort(effort) << (2 * NUMBER_BITS)
    i: cython.int
    for i in range(BUCKET):
        if entry[i].key == key and entry[i].packed != 0:
            place = entry + i
            break
        if entry[i].packed >> (2 * NUMBER_BITS) < place.packed >> (2 * NUMBER_BITS):
            place = entry + i
    if place.packed == 0:
        w.used += 1
    elif place.key == key:
        rank = max(rank, place.packed >> (2 * NUMBER_BITS) << (2 * NUMBER_BITS))
    place.key = key
    place.packed = (
        rank
        | cython.cast(uint64_t, numbers.disproof) << NUMBER_BITS
        | cython.cast(uint64_t, numbers.proof)
    )


def effort_of(w, key):
    """Return the logarithm of the effort for a position, 0 if it is unknown."""
    entry: cython.pointer(Entry) = bucket_of(w, key)
    i: cython.int
    for i in range(BUCKET):
        if entry[i].key == key:
            return entry[i].packed >> (2 * NUMBER_BITS)
    return 0


def log_effort(effort):
    """Return a logarithm in 8 bits: four steps for each doubling."""
    steps: uint64_t = 0
    while effort >= 8:
        effort >>= 1
        steps += 4
    return steps + effort


# ---------------------------------------------------------------------------------
# 3 The search
#
# The path is kept here, not on the C stack, so that work can stop after any step and go
# on later, and games of any length fit.


def enter(w, sums, key, limits):
    """Put the board's position at the end of the path and look at all its moves."""
    b: cython.pointer(Board) = cython.address(w.board)
    f: cython.pointer(Frame) = w.frames + w.depth
    child: cython.pointer(Child)
    survey: Survey
    i: Index
    f.key = key
    f.began = w.moves
    f.sums = sums[0]
    f.limits = limits
    f.count = b.count[b.to_move]
    f.first = 0
    if w.depth > 0:
        f.first = w.frames[w.depth - 1].first + w.frames[w.depth - 1].count
    if w.depth == w.most_depth or f.first + f.count > w.room:
        w.starved = True
        f.count = 0
        return
    w.depth += 1
    child = w.children + f.first
    take_survey(b, cython.address(survey))
    for i in range(f.count):  # first of all: moves reorder the list
        child[i].cell = b.legal[b.to_move][i]
    for i in range(f.count):
        if try_move(w, f, child + i, cython.address(survey)):
            child[0] = child[i]  # no other move matters
            f.count = 1
            return
    for i in range(f.count):
        if child[i].numbers.proof != 0:
            look_up(w, child[i].key, cython.address(child[i].numbers))


def try_move(w, f, child, survey):
    """Find key and guessed numbers of a child; return whether its move wins at once."""
    b: cython.pointer(Board) = cython.address(w.board)
    color: Index = b.to_move
    undo: Undo
    after: Sums
    make_move(b, child.cell, cython.address(undo))
    w.moves += 1
    child.key = 0
    if b.roots[1 - color] == 0:
        child.numbers.proof = NEVER
        child.numbers.disproof = 0
    elif b.roots[color] == 0:
        child.numbers.proof = 0
        child.numbers.disproof = NEVER
    else:
        after = f.sums
        follow(w, cython.address(after), cython.address(undo))
        child.key = canonical(w, cython.address(after), b.to_move)
        FETCH_AHEAD(bucket_of(w, child.key))
        child.numbers = guess(b, survey, cython.address(undo))
    unmake_move(b, cython.address(undo))
    return child.numbers.disproof == 0


def fill_powers():
    """Fill the powers of 2 that guesses are, ``STEPS`` for each doubling."""
    power: cython.double = 1
    i: cython.int
    for i in range(GUESSES):
        powers[i] = cython.cast(uint32_t, power + 0.5)
        power *= 1.0442737824274138  # 2 ** (1 / STEPS)


def guess(b, survey, undo):
    """Return numbers for a new position: each growth point of lead doubles them.

    So does a third of a unit of the learned log odds.

    Args:
        b: the position after a move.
        survey: of the position before it.
        undo: of the move.
    """
    lead: cython.double = b.count[b.to_move] - b.count[1 - b.to_move]
    lead += 3 * logit_after(b, survey, undo)
    lead = max(-EVEN, min(EVEN, lead))
    steps: cython.int = cython.cast(cython.int, STEPS * (EVEN + lead))
    numbers: Numbers
    numbers.proof = powers[GUESSES - 1 - steps]
    numbers.disproof = powers[steps]
    return numbers


def count_up(w, f):
    """Return what the children of a frame say about it."""
    child: cython.pointer(Child) = w.children + f.first
    tally: Tally
    largest: uint32_t = 0
    unproved: uint32_t = 0
    i: uint32_t
    tally.best = 0
    tally.second = NEVER
    for i in range(f.count):
        unproved += child[i].numbers.proof != 0
        largest = max(largest, child[i].numbers.proof)
        if i == 0:
            continue
        if child[i].numbers.disproof < child[tally.best].numbers.disproof:
            tally.second = child[tally.best].numbers.disproof
            tally.best = i
        elif child[i].numbers.disproof < tally.second:
            tally.second = child[i].numbers.disproof
    tally.rivals = unproved - 1 if unproved != 0 else 0
    tally.numbers.proof = child[tally.best].numbers.disproof
    tally.numbers.disproof = largest
    if 0 < largest < NEVER:
        tally.numbers.disproof = min(largest + tally.rivals, NEVER - 1)
    return tally


def step(w):
    """Leave the last frame of the path if it has reached a limit, else go deeper."""
    b: cython.pointer(Board) = cython.address(w.board)
    f: cython.pointer(Frame) = w.frames + w.depth - 1
    tally: Tally = count_up(w, f)
    child: cython.pointer(Child) = w.children + f.first + tally.best
    f.chosen = tally.best
    if (
        tally.numbers.proof >= f.limits.proof
        or tally.numbers.disproof >= f.limits.disproof
    ):  # as does every proof: one of its numbers is NEVER
        leave(w, tally.numbers)
        return
    limits: Numbers = limits_below(f, cython.address(tally), child)
    known: Numbers = child.numbers
    look_up(w, child.key, cython.address(known))
    if known.proof >= limits.proof or known.disproof >= limits.disproof:
        child.numbers = known  # another path has been there since
        return
    sums: Sums = f.sums
    make_move(b, child.cell, cython.address(f.undo))
    follow(w, cython.address(sums), cython.address(f.undo))
    enter(w, cython.address(sums), child.key, limits)


def limits_below(f, tally, child):
    """Return the limits for work on the best child.

    It is left when it is no longer the best, by a margin of a quarter that saves much
    going back and forth (Pawlewicz and Lew 2007), or when the frame reaches a limit.
    """
    limits: Numbers
    limits.disproof = min(
        f.limits.proof, tally.second + cython.cast(uint32_t, tally.second // 4) + 1
    )
    limits.proof = NEVER
    if f.limits.disproof < NEVER:
        limits.proof = f.limits.disproof - tally.rivals
    return limits


def leave(w, numbers):
    """Keep the numbers of the last frame and go back to the one before."""
    f: cython.pointer(Frame) = w.frames + w.depth - 1
    store(w, f.key, numbers, w.moves - f.began)
    w.depth -= 1
    if w.depth == 0:
        w.numbers = numbers
        w.best = w.children[f.first + f.chosen].cell
        return
    f -= 1
    w.children[f.first + f.chosen].numbers = numbers
    unmake_move(cython.address(w.board), cython.address(f.undo))


# ---------------------------------------------------------------------------------
# 4 What Python sees


@cython.final
@cython.cclass
class Prover:
    """Proves the winner of one position after another on boards of one size.

    What is known about positions is kept from one `start` to the next.

    Args:
        width: board width.
        height: board height.
        memory: bytes for table and path.

    Raises:
        MemoryError: this machine does not give that much.
    """

    def __init__(self, width, height, memory):
        w: cython.pointer(Work) = cython.address(self.work)
        weigh_cells(w, width, height)
        w.numbers.proof = w.numbers.disproof = 1
        self.width = width
        self.height = height
        self.bound = memory
        self.take_memory()

    def take_memory(self):
        """Take room for the path and, from the next cache line on, for the table."""
        w: cython.pointer(Work) = cython.address(self.work)
        share: cython.size_t = self.bound // PATH_SHARE
        line: cython.size_t = BUCKET * cython.sizeof(Entry)
        w.most_depth = min(share // 2 // cython.sizeof(Frame), 1 << 20)
        w.room = min(share // 2 // cython.sizeof(Child), 1 << 30)
        w.buckets = max((self.bound - share) // line, 1)
        w.frames = cython.cast(
            cython.pointer(Frame), calloc(w.most_depth + 1, cython.sizeof(Frame))
        )
        w.children = cython.cast(
            cython.pointer(Child), calloc(w.room + 1, cython.sizeof(Child))
        )
        self.memory = cython.cast(cython.p_char, calloc(w.buckets + 1, line))
        if (
            self.memory == cython.NULL
            or w.frames == cython.NULL
            or w.children == cython.NULL
        ):
            raise MemoryError(f"this machine has no {self.bound >> 20} MB for a proof")
        if w.buckets * line >= LARGE:
            prefer_large_pages(self.memory, w.buckets * line)
        w.table = cython.cast(
            cython.pointer(Entry),
            self.memory + line - cython.cast(cython.size_t, self.memory) % line,
        )
        return 0

    def __dealloc__(self):
        free(self.memory)
        free(self.work.frames)
        free(self.work.children)

    def start(self, position: Position):
        """Begin to work on a position.

        Raises:
            ValueError: the game is over, or the board has another size.
        """
        w: cython.pointer(Work) = cython.address(self.work)
        b: cython.pointer(Board) = cython.address(w.board)
        sums: Sums
        limits: Numbers
        if position.winner >= 0:
            raise ValueError("the game is over: there is nothing to prove")
        if (self.width, self.height) != (position.width, position.height):
            raise ValueError(f"this prover is for {self.width}x{self.height} only")
        require_weights()
        rebuild(b, cython.address(position.board))
        self.position = position
        w.depth = 0
        w.moves = 0
        w.starved = False
        limits.proof = limits.disproof = NEVER
        w.numbers.proof = w.numbers.disproof = 1
        add_up(w, cython.address(sums))
        enter(
            w,
            cython.address(sums),
            canonical(w, cython.address(sums), b.to_move),
            limits,
        )

    def run(self, moves, stop: StopFlag):
        """Work until so many moves more are made, a proof is there, or the flag is set.

        Returns:
            Whether it is worth to go on: no proof yet, and the path has room.
        """
        w: cython.pointer(Work) = cython.address(self.work)
        end: uint64_t = w.moves + moves
        with cython.nogil:
            while (
                w.depth > 0 and not w.starved and w.moves < end and stop.flag == 0
            ):
                step(w)
        return w.depth > 0 and not w.starved

    @property
    def moves(self):
        """Moves made since `start`."""
        return self.work.moves

    @property
    def proof(self):
        """1 if the side to move is proved to win, -1 if it is to lose, else 0."""
        if self.work.numbers.proof == 0:
            return 1
        return -1 if self.work.numbers.disproof == 0 else 0

    @property
    def best_move(self):
        """The point of a winning move if the side to move is proved to win, else -1."""
        return self.position.point_of(self.work.best) if self.proof == 1 else -1

    @property
    def refuted(self):
        """How many moves of the start are proved to lose, and how many there are."""
        w: cython.pointer(Work) = cython.address(self.work)
        i: uint32_t
        lost = [w.children[i].numbers.proof == 0 for i in range(w.frames[0].count)]
        return sum(lost), len(lost)

    def children(self):
        """Return (point, key, proof, effort) of every move of the start.

        The key names the position after it, 0 where the game is over; proof is 1 if the
        move is proved to win, -1 if to lose, else 0; effort is a logarithm of what the
        proof took, 0 where it is not known. A move that wins at once comes alone.
        """
        w: cython.pointer(Work) = cython.address(self.work)
        child: cython.pointer(Child)
        i: uint32_t
        found = []
        for i in range(w.frames[0].count):
            child = w.children + i
            proof = (child.numbers.disproof == 0) - (child.numbers.proof == 0)
            point = self.position.point_of(child.cell)
            found.append((point, child.key, proof, effort_of(w, child.key)))
        return found

    @property
    def table_use(self):
        """Share of the table that holds an entry, 0 to 1."""
        return cython.cast(cython.double, self.work.used) / (
            self.work.buckets * BUCKET
        )


fill_powers()
