"""The compiled alpha-beta search: the same uses as ``Search`` of the kernel.

Cython in pure Python mode on top of ``_kernel.py``: the structures and C signatures are
in ``_alphabeta.pxd``, the types that Python sees in ``_alphabeta.pyi``.

A search keeps its line of positions on a stack of its own, not on that of C, so that it
can be left after any number of nodes and taken up again where it was: slices cost
nothing, whatever their length.

Scores are seen from the side to move, in thousandths of a unit of the logistic
function. A win is worth ``WIN`` less one for each ply to it, which no evaluation
reaches, so a score that says so is a proof: shorter wins and longer losses are better.
Positions never repeat (RULES.md R9), so what is known about one holds however it arose.

Chapters: 1 tables, 2 evaluation, 3 a search from outside, 4 one position of the line,
5 the table, 6 what Python sees.
"""

import cython
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memmove, memset

COMPILED: bool = cython.compiled

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
    if not before.is_surveyed or before.undo.removed_count > 0:
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


def begin(s, seed):
    """Prepare the moves of the position to search, and the first iteration."""
    b: cython.pointer(Board) = cython.address(s.board)
    i: cython.int
    s.nodes = s.used = 0
    s.full = False
    s.score = evaluate(b)
    s.depth = 1
    s.margin = MARGIN
    memset(s.history, 0, cython.sizeof(s.history))
    memset(s.known, 0, cython.sizeof(s.known))
    for i in range(MAX_PLY):
        s.frames[i].killer[0] = s.frames[i].killer[1] = 0
    list_choices(s, seed)
    s.frames[0].key = board_key(b)
    s.frames[0].moves = s.pool
    s.frames[0].count = s.choice_count
    begin_iteration(s, -INFINITE, INFINITE)


def list_choices(s, seed):
    """List the moves of the position to search by prior, equal ones in random order."""
    b: cython.pointer(Board) = cython.address(s.board)
    random: Random
    choice: Choice
    kinds: uint8_t[CELLS]
    total: cython.double = 0
    i: cython.int
    k: cython.int
    seed_random(cython.address(random), seed)
    s.choice_count = b.count[b.to_move]
    classify(b, kinds)
    for i in range(s.choice_count):
        choice.cell = b.legal[b.to_move][i]
        choice.prior = learned_weight(b, kinds, choice.cell)
        choice.nodes = 0
        choice.score = s.score
        choice.proof = 0
        total += choice.prior
        k = i
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
    while s.state != FINISHED and not stop.flag:
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
    entry: cython.pointer(Entry)
    hash_cell: uint16_t = 0
    s.nodes += 1
    s.choices[s.frames[0].index].nodes += 1
    f.key ^= key_change(b, cython.address((f - 1).undo))
    prefetch(bucket_of(s, f.key))  # while the position is evaluated
    is_over: cython.bint = b.roots[BLACK] == 0 or b.roots[WHITE] == 0
    if is_over or f.depth <= 0 or s.ply == MAX_PLY - 1:  # Step 1
        give_back(s, value_on_top(s))
        return
    if f.depth <= CLEAR_DEPTH and f.beta == f.alpha + 1 and is_clear(s):  # Step 2
        give_back(s, judge(s))
        return
    entry = probe(s, f.key)  # Step 3
    if entry != cython.NULL:
        if is_enough(s, entry):
            give_back(s, score_here(entry, s.ply))
            return
        hash_cell = entry.cell
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
    store(s, f)
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
# Only entries of the running search count (`age`), so that nothing depends on earlier
# ones. Scores of wins are kept as seen from their own position, not from the bottom.


def bucket_of(s, key):
    """Return the entries that may be about a position."""
    return s.table + BUCKET * (key & s.mask)


def probe(s, key):
    """Return what this search knows about a position, or NULL."""
    entry: cython.pointer(Entry) = bucket_of(s, key)
    i: cython.int
    for i in range(BUCKET):
        if entry.key == key and entry.age == s.age:
            return entry
        entry += 1
    return cython.NULL


def score_here(entry, ply):
    """Return the score of an entry as seen from the bottom."""
    if entry.score >= PROVEN:
        return entry.score - ply
    return entry.score + ply if entry.score <= -PROVEN else entry.score


def is_enough(s, entry):
    """Tell whether an entry makes a search of the position on top needless."""
    f: cython.pointer(Frame) = cython.address(s.frames[s.ply])
    score: cython.int = score_here(entry, s.ply)
    is_proof: cython.bint = abs(score) >= PROVEN and f.beta == f.alpha + 1
    if entry.depth < f.depth and not is_proof:
        return False
    if entry.bound == LOWER:
        return score >= f.beta
    return entry.bound == EXACT or score <= f.alpha


def store(s, f):
    """Put down what was found out about a position, if need be over a lesser entry.

    That is the same position, else one of an earlier search, else the shallowest.
    """
    bucket: cython.pointer(Entry) = bucket_of(s, f.key)
    entry: cython.pointer(Entry) = bucket
    rank: cython.int
    least: cython.int = INFINITE
    i: cython.int
    for i in range(BUCKET):
        rank = bucket[i].depth + 1
        if bucket[i].age != s.age:
            rank = 0
        elif bucket[i].key == f.key:
            rank = -1
        if rank < least:
            least = rank
            entry = bucket + i
    s.used += least == 0
    s.full = s.full or least > 0
    entry.key = f.key
    entry.age = s.age
    entry.depth = f.depth
    entry.cell = f.best_cell
    entry.score = f.best
    if f.best >= PROVEN:
        entry.score += s.ply
    elif f.best <= -PROVEN:
        entry.score -= s.ply
    entry.bound = EXACT
    if f.best >= f.beta:
        entry.bound = LOWER
    elif f.best <= f.floor:
        entry.bound = UPPER


# ---------------------------------------------------------------------------------
# 6 What Python sees


@cython.final
@cython.cclass
class AlphaBeta:
    """An alpha-beta search of one position after another; used as ``Search`` is.

    Iterative deepening: `best_move` and the rest tell the last finished iteration,
    and of the one under way what is better. Equal nodes and seeds give equal results,
    whatever the slices. A visit is a node here: a position entered after a move.

    Args:
        memory: bound of the table in bytes, of which the largest power of 2 is used;
            taken at the first `start`. What does not depend on it is less than 3 MB.

    Raises:
        MemoryError: this machine does not give that much.
    """

    def __init__(self, memory):
        self.memory = memory
        # Asked for and given back at once: it is better to fail now than in a game.
        self.take_memory()
        free(self.stack.table)
        self.stack.table = cython.NULL

    def __dealloc__(self):
        free(self.stack.table)

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
        self.stack.table = table
        self.stack.mask = count - 1
        self.stack.age = 0
        return 0

    def start(self, position: Position, seed):
        """Begin to search a position; the former search is forgotten.

        The search depends on the position, not on the moves that led to it.

        Raises:
            ValueError: the game is over.
            MemoryError: the table does not fit into memory; nothing has changed then.
        """
        if position.winner >= 0:
            raise ValueError("the game is over: there is nothing to search")
        require_weights()
        s: cython.pointer(Stack) = cython.address(self.stack)
        if s.table == cython.NULL:
            self.take_memory()
        if s.age == MOST_AGE:
            memset(s.table, 0, (s.mask + 1) * BUCKET * cython.sizeof(Entry))
            s.age = 0
        s.age += 1
        rebuild(cython.address(s.board), cython.address(position.board))
        self.start_board = s.board
        begin(s, seed)
        self.position = position

    def run(self, nodes, stop: StopFlag):
        """Enter nodes until their number, a proof of the position, or the flag.

        Returns:
            The nodes entered; fewer than asked for if the flag was set or nothing is
            left to find out.
        """
        s: cython.pointer(Stack) = cython.address(self.stack)
        if s.table == cython.NULL:
            raise ValueError("start a search first")
        before: uint64_t = s.nodes
        end: uint64_t = before + cython.cast(uint64_t, nodes)
        with cython.nogil:
            search_on(s, end, stop)
        return s.nodes - before

    @property
    def visits(self):
        """Nodes entered since `start`."""
        return self.stack.nodes

    @property
    def depth(self):
        """Depth of the last finished iteration, in plies; forced moves do not count."""
        finished: cython.bint = self.stack.state == FINISHED
        return self.stack.depth - (0 if finished else 1) if self.is_started() else 0

    @property
    def score(self):
        """Score of the last finished iteration for the side to move, in thousandths of
        a unit of the logistic function; 30000 less the plies for a win."""
        return self.stack.score

    @property
    def tree_nodes(self):
        """Positions in the table."""
        return self.stack.used

    @property
    def is_full(self):
        """Whether the memory bound has made the search forget positions."""
        return self.stack.full

    @property
    def proof(self):
        """1 if the side to move is proven to win, -1 if it is to lose, else 0."""
        if not self.is_started():
            return 0
        return self.stack.choices[best_choice(cython.address(self.stack))].proof

    @property
    def value(self):
        """Win probability of the side to move, 0 to 1."""
        if not self.is_started():
            return 0.5
        return self.value_of(best_choice(cython.address(self.stack)))

    def is_started(self):
        """Tell whether there is something to tell about."""
        return self.stack.table != cython.NULL

    def value_of(self, i):
        """Return the win probability after a move of the list, 0 to 1.

        Alpha-beta finds the value of the best move; of others only that they are no
        better, and how bad they are at least.
        """
        s: cython.pointer(Stack) = cython.address(self.stack)
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
        s: cython.pointer(Stack) = cython.address(self.stack)
        if not self.is_started():
            return []
        best: cython.int = best_choice(s)
        i: cython.int
        found = []
        for i in range(s.choice_count):
            choice = s.choices[i]
            value = self.value_of(i)
            point = self.position.point_of(choice.cell)
            rank = (choice.proof, i == best, value, choice.nodes, choice.prior)
            move = (point, choice.nodes, value, choice.prior, choice.proof)
            found.append((rank, move))
        found.sort(key=lambda ranked: ranked[0], reverse=True)
        return [move for _, move in found]

    def best_move(self):
        """Return the point to play."""
        s: cython.pointer(Stack) = cython.address(self.stack)
        if not self.is_started():
            raise ValueError("start a search first")
        return self.position.point_of(s.choices[best_choice(s)].cell)

    def principal_variation(self):
        """Return the points of best play as far as the table knows it."""
        s: cython.pointer(Stack) = cython.address(self.stack)
        if not self.is_started():
            return []
        return self.line_from(s.choices[best_choice(s)].cell)

    def variations(self):
        """Return such a line for every legal move, in the order of `moves`."""
        s: cython.pointer(Stack) = cython.address(self.stack)
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
        s: cython.pointer(Stack) = cython.address(self.stack)
        b: cython.pointer(Board) = cython.address(s.board)
        if s.ply == 0 or b.roots[BLACK] == 0 or b.roots[WHITE] == 0:
            return ""
        found = judge_anew(s)
        anew = evaluate(b)
        return "" if found == anew else f"evaluated as {found}, anew {anew}"

    def line_from(self, cell):
        """Return the points of best play from a move of the searched position."""
        s: cython.pointer(Stack) = cython.address(self.stack)
        board: Board = self.start_board
        b: cython.pointer(Board) = cython.address(board)
        key: uint64_t = s.frames[0].key
        entry: cython.pointer(Entry)
        undo: Undo
        line = []
        while is_single(b.word[b.to_move][cell]) and len(line) < MAX_PLY:
            line.append(self.position.point_of(cell))
            make_move(b, cell, cython.address(undo))
            key ^= key_change(b, cython.address(undo))
            entry = probe(s, key)
            if entry == cython.NULL:
                break
            cell = entry.cell
        return line


fill_tables()
