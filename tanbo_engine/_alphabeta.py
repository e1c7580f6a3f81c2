"""The compiled alpha-beta search: the same uses as ``Search`` of the kernel.

Cython in pure Python mode on top of ``_kernel.py``: the structures and C signatures are
in ``_alphabeta.pxd``, the types that Python sees in ``_alphabeta.pyi``.

A search keeps its line of positions on a stack of its own, not on that of C, so that it
can be left after any number of nodes and taken up again where it was: slices cost
nothing, whatever their length.

Scores are seen from the side to move, in thousandths of a unit of the logistic
function. A win is worth ``WIN`` less one for each ply to it, which no evaluation
reaches, so a score that says so is a proof: shorter wins and longer losses are better.
Positions never repeat (RULES.md R9), so what is known about one holds however it arose,
and whoever found it: several workers search the same position at once, each on a stack
of its own, and share the table alone (lazy SMP). The first of them has the say; odd
ones begin one ply deeper, so that not all do the same.

Chapters: 1 tables, 2 evaluation, 3 a search from outside, 4 one position of the line,
5 the table, 6 what Python sees.
"""

import cython
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memmove, memset

COMPILED: bool = cython.compiled
MOST_NODES = 1 << 62

# ---------------------------------------------------------------------------------
# 1 Tables


def fill_tables():
    """Fill the reductions of late moves."""
    i: cython.int
    k: cython.int
    for i in range(1, REDUCTIONS):
        for k in range(1, REDUCTIONS):
            reductions[i][k] = cython.cast(cython.int, natural_log(i) * natural_log(k))


# ---------------------------------------------------------------------------------
# 2 Evaluation
#
# That of the kernel before its logistic function, in whole numbers.


def evaluate(b):
    """Return the score of a game that is not over; far from `PROVEN` either way."""
    return in_units(learned_logit(b))


def in_units(logit):
    """Return the score of log odds."""
    score: cython.int = cython.cast(cython.int, UNIT * logit)
    return max(-MOST_SCORE, min(score, MOST_SCORE))


def judge(s):
    """Return the evaluation of the position on top; it is kept for the next time.

    Many lines lead to the same position just before and at the horizon. An entry is 64
    bits: those of the key that do not say where it is, and the score.
    """
    key: uint64_t = s.frames[s.ply].key
    known: cython.pointer(uint64_t) = s.known + key % KNOWN
    score: cython.int
    if known[0] // KNOWN == key // KNOWN:
        return cython.cast(int16_t, known[0] % KNOWN)
    score = judge_anew(s)
    known[0] = key - key % KNOWN + cython.cast(uint16_t, score)
    return score


def judge_anew(s):
    """Return the same from what the last move has changed, if that is known."""
    before: cython.pointer(Frame) = cython.address(s.frames[s.ply - 1])
    b: cython.pointer(Board) = cython.address(s.board)
    if not before.is_surveyed:
        return evaluate(b)
    return in_units(
        logit_after(b, cython.address(before.survey), cython.address(before.undo))
    )


def value_on_top(s):
    """Return the score of the position on top: exact if the game is over."""
    b: cython.pointer(Board) = cython.address(s.board)
    if b.roots[b.to_move] == 0:
        return s.ply - WIN
    if b.roots[1 - b.to_move] == 0:
        return WIN - s.ply
    return judge(s)


# ---------------------------------------------------------------------------------
# 3 A search from outside: iterations


def begin(s, excluded, seed, depth):
    """Prepare the moves of the position to search, and the first iteration."""
    b: cython.pointer(Board) = cython.address(s.board)
    i: cython.int
    s.nodes = s.used = 0
    s.full = False
    s.score = evaluate(b)
    s.depth = depth
    s.margin = MARGIN
    memset(s.below, 0, cython.sizeof(s.below))
    for i in range(MAX_PLY):
        s.frames[i].killer[0] = s.frames[i].killer[1] = 0
    list_choices(s, excluded, seed)
    s.frames[0].key = board_key(b)
    s.frames[0].moves = s.pool
    s.frames[0].count = s.choice_count
    begin_iteration(s, -INFINITE, INFINITE)


def forget(s):
    """Let nothing of earlier searches count, so that nothing depends on them."""
    s.oldest = s.age
    memset(s.history, 0, cython.sizeof(s.history))
    memset(s.known, 0, cython.sizeof(s.known))


def list_choices(s, excluded, seed):
    """List the moves of the position to search by prior, equal ones in random order."""
    b: cython.pointer(Board) = cython.address(s.board)
    random: Random
    choice: Choice
    kinds: uint8_t[CELLS]
    total: cython.double = 0
    i: cython.int
    k: cython.int
    seed_random(cython.address(random), seed)
    s.choice_count = 0
    classify(b, kinds)
    for i in range(b.count[b.to_move]):
        choice.cell = b.legal[b.to_move][i]
        if excluded[choice.cell]:
            continue
        choice.prior = learned_weight(b, kinds, choice.cell)
        choice.score = s.score
        choice.proof = 0
        total += choice.prior
        k = s.choice_count
        s.choice_count += 1
        while k > 0 and (
            s.choices[k - 1].prior < choice.prior
            or s.choices[k - 1].prior == choice.prior
            and random_below(cython.address(random), 2) == 1
        ):
            s.choices[k] = s.choices[k - 1]
            k -= 1
        s.choices[k] = choice
    for i in range(s.choice_count):
        s.choices[i].prior /= total


def begin_iteration(s, alpha, beta):
    """Search the position on the bottom to the depth of the iteration."""
    s.ply = 0
    s.frames[0].depth = s.depth
    s.frames[0].alpha = alpha
    s.frames[0].beta = beta
    open_frame(cython.address(s.frames[0]))
    advance(s)


def end_iteration(s):
    """Go on when the bottom of the stack is searched.

    Step 1  A win is enough, and a loss whose length is known.
    Step 2  A score inside the window ends the iteration; the next is one ply deeper,
            with a window around that score (from the fourth on: they are steady then).
    Step 3  A score outside only says on which side: the same depth once more, with a
            window four times as wide there, and without bounds after a few tries.
    """
    f: cython.pointer(Frame) = cython.address(s.frames[0])
    is_low: cython.bint = f.best <= f.floor
    is_high: cython.bint = f.best >= f.beta
    if f.best >= PROVEN or (f.best <= -PROVEN and not is_low):  # Step 1
        s.score = f.best
        s.state = FINISHED
    elif not is_low and not is_high:  # Step 2
        s.score = f.best
        s.margin = MARGIN
        if s.depth == MOST_DEPTH:
            s.state = FINISHED
            return
        s.depth += 1
        if s.depth < FIRST_WINDOW:
            begin_iteration(s, -INFINITE, INFINITE)
        else:
            begin_iteration(s, f.best - MARGIN, f.best + MARGIN)
    else:  # Step 3
        s.margin *= 4
        if s.margin > MOST_MARGIN:
            begin_iteration(s, -INFINITE, INFINITE)
        elif is_low:
            begin_iteration(s, f.best - s.margin, f.floor + 1)
        else:
            begin_iteration(s, f.beta - 1, f.best + s.margin)


def note_choice(s, value):
    """Keep what was found out about a move of the position to search.

    A better one than all before goes to the front: it is the move to play from then on,
    also if the iteration is never finished.
    """
    f: cython.pointer(Frame) = cython.address(s.frames[0])
    choice: Choice = s.choices[f.index]
    choice.score = value
    if value >= PROVEN and value > f.alpha:
        choice.proof = 1
    elif value <= -PROVEN and value < f.beta:
        choice.proof = -1
    s.choices[f.index] = choice
    if value > f.alpha and f.index > 0:
        memmove(
            cython.address(s.choices[1]),
            cython.address(s.choices[0]),
            f.index * cython.sizeof(Choice),
        )
        s.choices[0] = choice


def best_choice(s):
    """Return the index of the move to play: the first that is not known to be worse."""
    best: cython.int = 0
    i: cython.int
    for i in range(1, s.choice_count):
        if s.choices[i].proof > s.choices[best].proof:
            best = i
    return best


# ---------------------------------------------------------------------------------
# 4 One position of the line
#
# Principal variation search on a stack. `enter` looks at the position on top, `advance`
# makes its next move, `receive` takes the value of the position after a move.


def search_on(s, end, stop):
    """Go on until so many nodes have been entered, or nothing is left, or the flag."""
    while s.state != FINISHED and read_visits(cython.address(stop.flag)) == 0:
        if s.state == BACK:
            receive(s)
        elif s.nodes < end:
            enter(s)
        else:
            break


def enter(s):
    """Look at the position on top of the stack.

    Step 1  A finished game has an exact score; at the horizon the evaluation decides.
    Step 2  Just before the horizon an evaluation far outside the window is enough.
    Step 3  So may be what the table knows: the same depth or more with a bound that
            decides, or a proof, which holds at any depth.
    Step 4  Else list the moves and begin with the most promising one.
    """
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    b: cython.pointer(Board) = cython.address(s.board)
    fact: Fact
    hash_cell: uint16_t = 0
    count_one(cython.address(s.nodes))
    count_one(cython.address(s.below[s.frames[0].undo.cell]))
    f.key ^= key_change(b, cython.address((f - 1).undo))
    prefetch(bucket_of(s, f.key))  # while the position is evaluated
    is_over: cython.bint = b.roots[BLACK] == 0 or b.roots[WHITE] == 0
    if is_over or f.depth <= 0 or s.ply == MAX_PLY - 1:  # Step 1
        give_back(s, value_on_top(s))
        return
    if f.depth <= CLEAR_DEPTH and f.beta == f.alpha + 1 and is_clear(s):  # Step 2
        give_back(s, judge(s))
        return
    if probe(s, f.key, cython.address(fact)):  # Step 3
        if is_enough(s, cython.address(fact)):
            give_back(s, score_here(cython.address(fact), s.ply))
            return
        hash_cell = fact.cell
    f.moves = (f - 1).moves + (f - 1).count  # Step 4
    list_moves(s, f, hash_cell)
    open_frame(f)
    advance(s)


def is_clear(s):
    """Tell whether a few plies will hardly bring the evaluation into the window."""
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    score: cython.int
    if abs(f.beta) >= PROVEN:
        return False
    score = judge(s)
    return (
        score >= f.beta + CLEAR_ABOVE * f.depth
        or score <= f.alpha - CLEAR_BELOW * f.depth
    )


def open_frame(f):
    """Prepare a frame for its first move."""
    f.floor = f.alpha
    f.best = -INFINITE
    f.best_cell = 0
    f.index = 0
    f.is_surveyed = False


def list_moves(s, f, hash_cell):
    """List the moves of the position on top, with what their order depends on.

    The move of the table is first. The others come by the learned policy, how often
    they refuted other positions, and whether they were the last to do so at this ply.
    """
    b: cython.pointer(Board) = cython.address(s.board)
    me: Index = b.to_move
    move: cython.pointer(Move) = f.moves
    kinds: uint8_t[CELLS]
    effect: Effect
    i: cython.int
    f.count = b.count[me]
    classify(b, kinds)
    for i in range(f.count):
        move.cell = b.legal[me][i]
        look_ahead(b, move.cell, cython.address(effect))
        move.quiet = effect.left > 0 and effect.loses == 0 and effect.takes < 3
        move.order = POLICY_ORDER * learned_log(
            b, kinds, move.cell, cython.address(effect)
        )
        move.order += s.history[me][move.cell]
        if move.cell == hash_cell:
            move.order = TABLE_ORDER
        elif move.cell == f.killer[0] or move.cell == f.killer[1]:
            move.order += KILLER_ORDER
        move += 1


def advance(s):
    """Make the next move of the position on top, or finish it.

    A first move often refutes its position, so a survey pays from the second on, if
    positions after it are to be evaluated.
    """
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    if f.index == f.count:
        finish(s)
        return
    if s.ply == 0:
        f.moves[f.index].cell = s.choices[f.index].cell
        f.moves[f.index].order = 0
        f.moves[f.index].quiet = True
    else:
        bring_forward(f)
    f.reduction = reduction_of(f)
    f.mode = SCOUT if f.reduction == 0 else REDUCED
    if f.index == 0:
        f.mode = FULL
    if f.index == 1 and f.depth <= CLEAR_DEPTH + 1:
        take_survey(cython.address(s.board), cython.address(f.survey))
        f.is_surveyed = True
    make_move(cython.address(s.board), f.moves[f.index].cell, cython.address(f.undo))
    push(s)


def bring_forward(f):
    """Put the most promising of the moves that are left next."""
    best: cython.int = f.index
    i: cython.int
    move: Move
    for i in range(f.index + 1, f.count):
        if f.moves[i].order > f.moves[best].order:
            best = i
    move = f.moves[best]
    f.moves[best] = f.moves[f.index]
    f.moves[f.index] = move


def reduction_of(f):
    """Return how many plies less the move under way is searched at first."""
    plies: cython.int
    if f.index < FIRST_LATE or f.depth < LEAST_REDUCED:
        return 0
    plies = reductions[min(f.depth, REDUCTIONS - 1)][min(f.index, REDUCTIONS - 1)]
    return min(plies, f.depth - 2)


def push(s):
    """Put the position after the move under way on top."""
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    child: cython.pointer(Frame) = f + 1
    child.key = f.key
    child.alpha = -f.beta if f.mode == FULL else -f.alpha - 1
    child.beta = -f.alpha
    child.depth = f.depth - 1
    if f.mode == REDUCED:
        child.depth -= f.reduction
    if f.count == 1 and s.ply < 2 * s.depth:
        child.depth += 1  # a forced move costs no depth
    s.ply += 1
    s.state = ENTER


def receive(s):
    """Take the value of the position after the move under way.

    Step 1  A reduced search that promises more than the best so far is done again to
            the full depth, a yes to the question of a scout with the whole window.
    Step 2  Take the move back and keep a better value; one that reaches beta refutes
            the position.
    Step 3  Go on with the next move.
    """
    value: cython.int = -s.value
    s.ply -= 1
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    if value > f.alpha and (f.mode == REDUCED or f.mode == SCOUT and value < f.beta):
        f.mode = SCOUT if f.mode == REDUCED else FULL  # Step 1
        push(s)
        return
    unmake_move(cython.address(s.board), cython.address(f.undo))  # Step 2
    if s.ply == 0:
        note_choice(s, value)
    if value > f.best:
        f.best = value
        f.best_cell = f.undo.cell
        f.alpha = max(f.alpha, value)
        if value >= f.beta:
            reward(s, f)
            finish(s)
            return
    f.index += 1  # Step 3
    advance(s)


def reward(s, f):
    """Remember the quiet move that refuted its position, and those that did not."""
    me: Index = s.board.to_move
    bonus: cython.int = min(f.depth * f.depth, MOST_BONUS)
    i: cython.int
    if not f.moves[f.index].quiet:
        return
    if f.killer[0] != f.best_cell:
        f.killer[1] = f.killer[0]
        f.killer[0] = f.best_cell
    learn(cython.address(s.history[me][f.best_cell]), bonus)
    for i in range(f.index):
        if f.moves[i].quiet:
            learn(cython.address(s.history[me][f.moves[i].cell]), -bonus)


def learn(count, bonus):
    """Move a count of the history, which fades so that it stays within bounds."""
    count[0] += bonus * HISTORY_STEP - count[0] * abs(bonus) / HISTORY_FADE


def finish(s):
    """End the position on top: all its moves are searched, or one refutes it."""
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    if s.ply > 0 or s.choice_count == s.board.count[s.board.to_move]:
        store(s, f)  # else it tells of some moves only
    if s.ply == 0:
        end_iteration(s)
    else:
        give_back(s, f.best)


def give_back(s, value):
    """Hand a value to the position before."""
    s.value = value
    s.state = BACK


# ---------------------------------------------------------------------------------
# 5 The table
#
# An entry is two words, each read and written at once. The first is the key, changed by
# the second: an entry of which another worker has written one half fits no position.
# Only entries since the last `forget` count. Scores of wins are kept as seen from their
# own position, not from the bottom.


def count_one(count):
    """Add one to a count of this worker, which others may read meanwhile."""
    write_word(count, count[0] + 1)


def bucket_of(s, key):
    """Return the entries that may be about a position."""
    return s.table + BUCKET * (key & read_word(s.mask))


def packed(fact):
    """Return a fact as one word."""
    word: uint64_t = cython.cast(uint16_t, fact.score)
    word |= cython.cast(uint64_t, fact.cell) << 16
    word |= cython.cast(uint64_t, fact.depth) << 32
    word |= cython.cast(uint64_t, fact.bound) << 40
    return word | cython.cast(uint64_t, fact.age) << 48


def unpack(word, fact):
    """Write down the fact that a word stands for."""
    fact.score = cython.cast(int16_t, word & 0xFFFF)
    fact.cell = word >> 16 & 0xFFFF
    fact.depth = word >> 32 & 0xFF
    fact.bound = word >> 40 & 0xFF
    fact.age = word >> 48 & 0xFFFF


def probe(s, key, fact):
    """Write down what is known about a position; False if nothing is."""
    entry: cython.pointer(Entry) = bucket_of(s, key)
    word: uint64_t
    i: cython.int
    for i in range(BUCKET):
        word = read_word(cython.address(entry[i].word))
        if read_word(cython.address(entry[i].check)) ^ word == key:
            unpack(word, fact)
            return fact.age >= s.oldest
    return False


def score_here(fact, ply):
    """Return the score of a fact as seen from the bottom."""
    if fact.score >= PROVEN:
        return fact.score - ply
    return fact.score + ply if fact.score <= -PROVEN else fact.score


def is_enough(s, fact):
    """Tell whether a fact makes a search of the position on top needless."""
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    score: cython.int = score_here(fact, s.ply)
    is_proof: cython.bint = abs(score) >= PROVEN and f.beta == f.alpha + 1
    if fact.depth < f.depth and not is_proof:
        return False
    if fact.bound == LOWER:
        return score >= f.beta
    return fact.bound == EXACT or score <= f.alpha


def store(s, f):
    """Put down what was found out about a position, if need be over a lesser entry.

    That is the same position, else one of an earlier search, else the shallowest.
    """
    bucket: cython.pointer(Entry) = bucket_of(s, f.key)
    entry: cython.pointer(Entry) = bucket
    fact: Fact
    word: uint64_t
    rank: cython.int
    least: cython.int = INFINITE
    i: cython.int
    for i in range(BUCKET):
        word = read_word(cython.address(bucket[i].word))
        unpack(word, cython.address(fact))
        rank = fact.depth + 1
        if read_word(cython.address(bucket[i].check)) ^ word == f.key:
            rank = -1 if fact.age == s.age else -2
        elif fact.age != s.age:
            rank = 0
        if rank < least:
            least = rank
            entry = bucket + i
    if least == 0 or least == -2:
        count_one(cython.address(s.used))
    s.full = s.full or (least > 0 and read_word(s.mask) == s.most_mask)
    fact.age = s.age
    fact.depth = f.depth
    fact.cell = f.best_cell
    fact.score = f.best
    if f.best >= PROVEN:
        fact.score += s.ply
    elif f.best <= -PROVEN:
        fact.score -= s.ply
    fact.bound = EXACT
    if f.best >= f.beta:
        fact.bound = LOWER
    elif f.best <= f.floor:
        fact.bound = UPPER
    word = packed(cython.address(fact))
    write_word(cython.address(entry.check), f.key ^ word)
    write_word(cython.address(entry.word), word)
    if s.is_first and s.used > read_word(s.mask) and s.mask[0] < s.most_mask:
        grow(s)


def grow(s):
    """Use twice as much of the table.

    New memory has to be cleared by the system first. A short search should not wait
    for more of it than it needs, so the table is taken into use bit by bit. Entries go
    where they are looked for then, but in a large table: a clock cannot wait for that,
    and what is lost is soon found again.
    """
    room: uint64_t = s.mask[0] + 1
    entry: cython.pointer(Entry) = s.table
    end: cython.pointer(Entry) = s.table + BUCKET * room
    check: uint64_t
    word: uint64_t
    while entry < end and room <= MOST_COPIED:
        check = read_word(cython.address(entry.check))
        word = read_word(cython.address(entry.word))
        if (check ^ word) & room:
            write_word(cython.address(entry[BUCKET * room].check), check)
            write_word(cython.address(entry[BUCKET * room].word), word)
            write_word(cython.address(entry.word), 0)
        entry += 1
    write_word(s.mask, 2 * room - 1)


# ---------------------------------------------------------------------------------
# 6 What Python sees


@cython.final
@cython.cclass
class AlphaBeta:
    """An alpha-beta search of one position after another; used as ``Search`` is.

    Iterative deepening: `best_move` and the rest tell the last finished iteration,
    and of the one under way what is better. With one worker equal nodes and seeds give
    equal results, whatever the slices. A visit is a node here: a position entered after
    a move.

    What the search tells (all but `visits`) is that of worker 0, and to be asked in the
    thread that runs it, or when none runs.

    Args:
        memory: bound of the table in bytes, of which the largest power of 2 is used;
            taken at the first `start`. What does not depend on it is less than 3 MB a
            worker.
        workers: how many threads may `run` at once, 1 to 256.

    Raises:
        MemoryError: this machine does not give that much.
    """

    def __init__(self, memory, workers=1):
        if not 1 <= workers <= MOST_WORKERS:
            raise ValueError(f"workers are 1 to {MOST_WORKERS}, not {workers}")
        self.memory = memory
        self.worker_count = workers
        self.stacks = cython.cast(
            cython.pointer(Stack), calloc(workers, cython.sizeof(Stack))
        )
        if self.stacks == cython.NULL:
            raise MemoryError("this machine has no memory for the threads of a search")
        # Asked for and given back at once: it is better to fail now than in a game.
        self.take_memory()
        free(self.table)
        self.table = cython.NULL

    def __dealloc__(self):
        free(self.table)
        free(self.stacks)

    def take_memory(self):
        """Take room for the table: at least `LEAST_ROOM` buckets."""
        bucket: cython.size_t = BUCKET * cython.sizeof(Entry)
        count: cython.size_t = LEAST_ROOM
        while 2 * count <= self.memory // bucket:
            count *= 2
        table = cython.cast(cython.pointer(Entry), calloc(count, bucket))
        if table == cython.NULL:
            size = count * bucket >> 20
            raise MemoryError(f"this machine has no {size} MB for a search table")
        prefer_large_pages(table, count * bucket)
        self.table = table
        self.most_mask = count - 1
        self.mask = self.touched_mask = 0
        self.age = 0
        return 0

    def start(self, position: Position, seed, undone=None, played=(), only=()):
        """Begin to search a position.

        The search depends on the position, not on the moves that led to it, nor on
        former searches unless they are to be of use.

        Args:
            position: where; moves made later do not matter.
            seed: of every random choice.
            undone: None forgets what former searches found out. Anything else keeps it,
                from whatever position to whatever other: ``Search`` wants a number.
            played: of no use here.
            only: points to choose from; empty for every legal one.

        Raises:
            ValueError: the game is over, or `only` has a point that is not legal.
            MemoryError: the table does not fit into memory; nothing has changed then.
        """
        if position.winner >= 0:
            raise ValueError("the game is over: there is nothing to search")
        for point in only:
            if not position.is_legal(position.board.to_move, point):
                raise ValueError(f"point {point} is not legal")
        require_weights()
        if self.table == cython.NULL:
            self.take_memory()
        rebuild(cython.address(self.start_board), cython.address(position.board))
        excluded: uint8_t[CELLS]
        memset(excluded, len(only) > 0, CELLS)
        for point in only:
            excluded[cell_of(cython.address(self.start_board), point)] = 0
        is_forgotten: cython.bint = undone is None or self.age == MOST_AGE
        self.touched_mask = max(self.touched_mask, self.mask)
        if self.age == MOST_AGE:
            size: cython.size_t = (self.touched_mask + 1) * BUCKET
            memset(self.table, 0, size * cython.sizeof(Entry))
            self.age = 0
        if is_forgotten:
            self.mask = min(FIRST_ROOM - 1, self.most_mask)
        self.age += 1
        i: cython.int
        for i in range(self.worker_count):
            self.prepare(self.stacks + i)
            if is_forgotten:
                forget(self.stacks + i)
            begin(self.stacks + i, excluded, seed + i, 1 + i % 2)
        self.position = position

    def prepare(self, s: cython.pointer(Stack)):
        """Give a worker the position to search and the table."""
        s.table = self.table
        s.mask = cython.address(self.mask)
        s.most_mask = self.most_mask
        s.is_first = s == self.stacks
        s.age = self.age
        s.board = self.start_board

    def run(self, nodes, stop: StopFlag, worker=0, until=MOST_NODES):
        """Enter nodes until their number, a proof of the position, or the flag.

        Several threads may do so at once, each as a worker of its own.

        Args:
            nodes: how many this worker enters.
            stop: ends the work.
            worker: which one, below the number of `workers`.
            until: ends the work when all workers together have entered so many, at most
                64 for each of the others more.

        Returns:
            The nodes entered; fewer than asked for if something else ended the work.
        """
        if self.table == cython.NULL:
            raise ValueError("start a search first")
        if not 0 <= worker < self.worker_count:
            raise ValueError(f"there is no worker {worker}")
        s: cython.pointer(Stack) = self.stacks + cython.cast(cython.int, worker)
        before: uint64_t = s.nodes
        end: uint64_t = before + cython.cast(uint64_t, nodes)
        most: uint64_t = until
        entered: uint64_t
        share: uint64_t
        with cython.nogil:
            while (
                s.nodes < end
                and s.state != FINISHED
                and read_visits(cython.address(stop.flag)) == 0
            ):
                entered = self.entered()
                if entered >= most:
                    break
                share = (most - entered + self.worker_count - 1) // self.worker_count
                search_on(s, min(end, s.nodes + min(share, MOST_SHARE)), stop)
        return s.nodes - before

    def entered(self):
        """Return the nodes that all workers have entered."""
        nodes: uint64_t = 0
        i: cython.int
        for i in range(self.worker_count):
            nodes += read_word(cython.address(self.stacks[i].nodes))
        return nodes

    def entered_below(self, cell):
        """Return the same of the nodes after a move of the position to search."""
        nodes: uint64_t = 0
        i: cython.int
        for i in range(self.worker_count):
            nodes += read_word(cython.address(self.stacks[i].below[cell]))
        return nodes

    @property
    def workers(self):
        """How many threads may search at once."""
        return self.worker_count

    @property
    def visits(self):
        """Nodes that all workers have entered since `start`."""
        return self.entered()

    @property
    def depth(self):
        """Depth of the last finished iteration, in plies; forced moves do not count."""
        finished: cython.bint = self.stacks.state == FINISHED
        return self.stacks.depth - (0 if finished else 1) if self.is_started() else 0

    @property
    def score(self):
        """Score of the last finished iteration for the side to move, in thousandths of
        a unit of the logistic function; 30000 less the plies for a win."""
        return self.stacks.score

    @property
    def tree_nodes(self):
        """Positions that this search has put into the table."""
        return sum(
            read_word(cython.address(self.stacks[i].used))
            for i in range(self.worker_count)
        )

    @property
    def is_full(self):
        """Whether the memory bound has made the search forget positions."""
        return self.stacks.full

    @property
    def proof(self):
        """1 if the side to move is proven to win, -1 if it is to lose, else 0."""
        if not self.is_started():
            return 0
        return self.stacks.choices[best_choice(self.stacks)].proof

    @property
    def value(self):
        """Win probability of the side to move, 0 to 1."""
        if not self.is_started():
            return 0.5
        return self.value_of(best_choice(self.stacks))

    def is_started(self):
        """Tell whether there is something to tell about."""
        return self.table != cython.NULL

    def value_of(self, i):
        """Return the win probability after a move of the list, 0 to 1.

        Alpha-beta finds the value of the best move; of others only that they are no
        better, and how bad they are at least.
        """
        s: cython.pointer(Stack) = self.stacks
        score: cython.int = min(
            s.choices[i].score, s.choices[best_choice(s)].score
        )
        if s.choices[i].proof != 0:
            return (s.choices[i].proof + 1) / 2
        return logistic(score / cython.cast(cython.double, UNIT))

    def moves(self):
        """Return (point, nodes, value, prior, proof) of every legal move, best first.

        Value and proof are those of the side to move. The value of any move but the
        best is an upper bound.
        """
        s: cython.pointer(Stack) = self.stacks
        if not self.is_started():
            return []
        best: cython.int = best_choice(s)
        i: cython.int
        found = []
        for i in range(s.choice_count):
            choice = s.choices[i]
            value = self.value_of(i)
            point = self.position.point_of(choice.cell)
            nodes = self.entered_below(choice.cell)
            rank = (choice.proof, i == best, value, nodes, choice.prior)
            move = (point, nodes, value, choice.prior, choice.proof)
            found.append((rank, move))
        found.sort(key=lambda ranked: ranked[0], reverse=True)
        return [move for _, move in found]

    def best_move(self):
        """Return the point to play."""
        s: cython.pointer(Stack) = self.stacks
        if not self.is_started():
            raise ValueError("start a search first")
        return self.position.point_of(s.choices[best_choice(s)].cell)

    def principal_variation(self):
        """Return the points of best play as far as the table knows it."""
        s: cython.pointer(Stack) = self.stacks
        if not self.is_started():
            return []
        return self.line_from(s.choices[best_choice(s)].cell)

    def variations(self):
        """Return such a line for every legal move, in the order of `moves`."""
        s: cython.pointer(Stack) = self.stacks
        i: cython.int
        if not self.is_started():
            return []
        lines = {}
        for i in range(s.choice_count):
            line = self.line_from(s.choices[i].cell)
            lines[line[0]] = line
        return [lines[move[0]] for move in self.moves()]

    def check(self):
        """Compare the evaluation, where the search is now, with one anew.

        Returns:
            An empty text, or what differs: for tests.
        """
        s: cython.pointer(Stack) = self.stacks
        b: cython.pointer(Board) = cython.address(s.board)
        if s.ply == 0 or b.roots[BLACK] == 0 or b.roots[WHITE] == 0:
            return ""
        found = judge_anew(s)
        anew = evaluate(b)
        return "" if found == anew else f"evaluated as {found}, anew {anew}"

    def line_from(self, cell):
        """Return the points of best play from a move of the searched position."""
        s: cython.pointer(Stack) = self.stacks
        board: Board = self.start_board
        b: cython.pointer(Board) = cython.address(board)
        key: uint64_t = s.frames[0].key
        fact: Fact
        undo: Undo
        line = []
        while is_single(b.word[b.to_move][cell]) and len(line) < MAX_PLY:
            line.append(self.position.point_of(cell))
            make_move(b, cell, cython.address(undo))
            key ^= key_change(b, cython.address(undo))
            if not probe(s, key, cython.address(fact)):
                break
            cell = fact.cell
        return line


fill_tables()
