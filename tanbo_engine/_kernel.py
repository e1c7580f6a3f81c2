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
from cython.cimports.libc.string import memcpy

COMPILED: bool = cython.compiled
PUCT = 0
UCT = 1

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
    state: uint64_t = 0x54616E626F  # "Tanbo"
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


def next_random(state):
    """Return the next 64 bits of splitmix64 (Steele, Lea, Flood 2014)."""
    state[0] += GOLDEN_GAMMA
    z: uint64_t = state[0]
    z = (z ^ (z >> 30)) * SPLIT_MIX_1
    z = (z ^ (z >> 27)) * SPLIT_MIX_2
    return z ^ (z >> 31)


def random_below(state, bound):
    """Return a number from 0 to bound - 1 (bias below 2**-22 on our lists)."""
    high: uint64_t = next_random(state) >> 32
    return cython.cast(cython.int, (high * cython.cast(uint64_t, bound)) >> 32)


# ---------------------------------------------------------------------------------
# 3 The board
#
# Kept up to date by every move: per cell and colour the number of neighbouring stones
# and the XOR of their root ids (with one neighbour that is its root id), per root the
# number of growth points, per colour the list of legal points. A point is legal for a
# colour if it is empty and has exactly one neighbour of it (RULES.md R3); then it is a
# growth point of that neighbour's root (R5). A root is bounded when it has none.


def legal_add(b, color, cell):
    """Add a cell to the legal list of a colour."""
    last: cython.int = b.legal_count[color]
    b.legal[color][last] = cell
    b.cells[cell].slot[color] = last
    b.legal_count[color] = last + 1


def legal_remove(b, color, cell):
    """Take a cell out of the legal list; the last one takes its place."""
    last: cython.int = b.legal_count[color] - 1
    hole: cython.int = b.cells[cell].slot[color]
    moved: cython.int = b.legal[color][last]
    b.legal[color][hole] = moved
    b.cells[moved].slot[color] = hole
    b.legal_count[color] = last


def lay_out(b, width, height):
    """Make an empty board, Black to move."""
    i: cython.int
    row: cython.int
    column: cython.int
    b.width = width
    b.height = height
    b.stride = width + 1
    b.cell_count = (height + 2) * b.stride + 1
    b.to_move = BLACK
    b.key = (width * (MAX_SIDE + 1) + height) * GOLDEN_GAMMA
    for i in range(2):
        b.stone_count[i] = 0
        b.root_count[i] = 0
        b.legal_count[i] = 0
    for i in range(b.cell_count):
        b.cells[i].state = WALL
    for row in range(1, height + 1):
        for column in range(1, width + 1):
            b.cells[row * b.stride + column].state = EMPTY


def put_stone(b, color, cell):
    """Put a stone of a start position; `derive` must follow."""
    b.cells[cell].state = color
    b.stone_count[color] += 1
    b.key ^= zobrist[color][cell]


def derive(b):
    """Compute everything that follows from the stones, in an order of its own."""
    i: cython.int
    color: cython.int
    cell: cython.pointer(Cell)
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    for i in range(b.cell_count):
        cell = cython.address(b.cells[i])
        b.growth[i] = 0
        cell.root = cell.next = 0
        for color in range(2):
            cell.count[color] = cell.mix[color] = cell.slot[color] = 0
    for i in range(b.cell_count):
        cell = cython.address(b.cells[i])
        if cell.state <= WHITE and cell.root == 0:
            b.root_count[cell.state] += 1
            collect_root(b, i)
    near: cython.pointer(Cell)
    k: cython.int
    for i in range(b.cell_count):
        cell = cython.address(b.cells[i])
        if cell.state <= WHITE:
            for k in range(4):
                near = cython.address(b.cells[i + steps[k]])
                near.count[cell.state] += 1
                near.mix[cell.state] ^= cell.root
    for i in range(b.cell_count):
        cell = cython.address(b.cells[i])
        if cell.state == EMPTY:
            for color in range(2):
                if cell.count[color] == 1:
                    legal_add(b, color, i)
                    b.growth[cell.mix[color]] += 1


def collect_root(b, first):
    """Make the list of the root whose lowest stone is `first`, breadth first."""
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    color: cython.int = b.cells[first].state
    at: cython.int = first
    last: cython.int = first
    near: cython.int
    k: cython.int
    b.cells[first].root = first
    while at != 0:
        for k in range(4):
            near = at + steps[k]
            if b.cells[near].state == color and b.cells[near].root == 0:
                b.cells[near].root = first
                b.cells[last].next = near
                last = near
        at = b.cells[at].next


def copy_board(target, source):
    """Copy a board, only as much of it as is in use."""
    color: cython.int
    header: cython.size_t = cython.cast(cython.p_char, source.legal) - cython.cast(
        cython.p_char, source
    )
    memcpy(target, source, header)
    for color in range(2):
        memcpy(
            target.legal[color], source.legal[color], source.legal_count[color] * 2
        )
    memcpy(target.growth, source.growth, source.cell_count * 2)
    memcpy(target.cells, source.cells, source.cell_count * cython.sizeof(Cell))


def rebuild(target, source):
    """Set up the same position anew, so that lists do not depend on how it arose."""
    i: cython.int
    lay_out(target, source.width, source.height)
    for i in range(source.cell_count):
        if source.cells[i].state <= WHITE:
            put_stone(target, source.cells[i].state, i)
    derive(target)
    if source.to_move == WHITE:
        target.to_move = WHITE
        target.key ^= side_key


def winner_of(b):
    """Return the colour that has won, or -1 (RULES.md R8)."""
    if b.root_count[BLACK] == 0:
        return WHITE
    if b.root_count[WHITE] == 0:
        return BLACK
    return -1


# ---------------------------------------------------------------------------------
# 4 Make and unmake


def make_move(b, cell, undo):
    """Place a stone of the side to move on a legal cell and do what R6 says.

    Step 1 the point stops being a growth point, of the enemy too. Step 2 the stone
    joins the current root. Step 3 each empty neighbour becomes a growth point of it
    (its first own neighbour) or stops being one of some own root (its second). Step 4
    the current root goes if it is bounded (R6a), else every other root that lost its
    last growth point in steps 1 and 3 (R6b; RULES.md P9: there are no more).
    """
    color: cython.int = b.to_move
    enemy: cython.int = 1 - color
    place: cython.pointer(Cell) = cython.address(b.cells[cell])
    root: cython.int = place.mix[color]
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    suspects: cython.int[4]
    suspect_count: cython.int = 0
    enemy_root: cython.int = 0
    near: cython.pointer(Cell)
    other: cython.int
    count: cython.int
    k: cython.int

    # Step 1
    legal_remove(b, color, cell)
    b.growth[root] -= 1
    if place.count[enemy] == 1:
        enemy_root = place.mix[enemy]
        legal_remove(b, enemy, cell)
        b.growth[enemy_root] -= 1

    # Step 2
    undo.cell = cell
    undo.old_root = place.root
    undo.old_next = place.next
    undo.removed_count = 0
    place.state = color
    place.root = root
    place.next = b.cells[root].next
    b.cells[root].next = cell
    b.stone_count[color] += 1
    b.to_move = enemy
    b.key ^= zobrist[color][cell] ^ side_key

    # Step 3
    for k in range(4):
        near = cython.address(b.cells[cell + steps[k]])
        count = near.count[color]
        other = near.mix[color]
        near.count[color] = count + 1
        near.mix[color] = other ^ root
        if near.state == EMPTY:
            if count == 0:
                legal_add(b, color, cell + steps[k])
                b.growth[root] += 1
            elif count == 1:
                legal_remove(b, color, cell + steps[k])
                b.growth[other] -= 1
                if b.growth[other] == 0:
                    suspects[suspect_count] = other
                    suspect_count += 1

    # Step 4
    if b.growth[root] == 0:
        remove_root(b, color, root)
        undo.removed[0] = root * 2 + color
        undo.removed_count = 1
        return
    if enemy_root != 0 and b.growth[enemy_root] == 0:
        remove_root(b, enemy, enemy_root)
        undo.removed[0] = enemy_root * 2 + enemy
        undo.removed_count = 1
    for k in range(suspect_count):
        if suspects[k] != root:  # it has grown again
            remove_root(b, color, suspects[k])
            undo.removed[undo.removed_count] = suspects[k] * 2 + color
            undo.removed_count += 1


def remove_root(b, color, root):
    """Take a bounded root off the board; its list stays in its cells.

    While its stones still count as occupied, its neighbours lose them one by one; then
    its cells become empty. They touch no other stone of their colour, but may be
    growth points of the enemy.
    """
    enemy: cython.int = 1 - color
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    near: cython.pointer(Cell)
    count: cython.int
    k: cython.int
    at: cython.int = root
    while at != 0:
        for k in range(4):
            near = cython.address(b.cells[at + steps[k]])
            count = near.count[color] - 1
            near.count[color] = count
            near.mix[color] ^= root
            if near.state == EMPTY:
                if count == 1:
                    legal_add(b, color, at + steps[k])
                    b.growth[near.mix[color]] += 1
                elif count == 0:
                    legal_remove(b, color, at + steps[k])
                    b.growth[root] -= 1
        b.key ^= zobrist[color][at]
        b.stone_count[color] -= 1
        at = b.cells[at].next
    at = root
    while at != 0:
        near = cython.address(b.cells[at])
        near.state = EMPTY
        if near.count[enemy] == 1:
            legal_add(b, enemy, at)
            b.growth[near.mix[enemy]] += 1
        at = near.next
    b.root_count[color] -= 1


def unmake_move(b, undo):
    """Take back the last move: the steps of `make_move` in reverse."""
    enemy: cython.int = b.to_move
    color: cython.int = 1 - enemy
    cell: cython.int = undo.cell
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    near: cython.pointer(Cell)
    count: cython.int
    k: cython.int
    for k in range(undo.removed_count - 1, -1, -1):
        restore_root(b, undo.removed[k] & 1, undo.removed[k] >> 1)

    place: cython.pointer(Cell) = cython.address(b.cells[cell])
    root: cython.int = place.root
    for k in range(4):
        near = cython.address(b.cells[cell + steps[k]])
        count = near.count[color] - 1
        near.count[color] = count
        near.mix[color] ^= root
        if near.state == EMPTY:
            if count == 0:
                legal_remove(b, color, cell + steps[k])
                b.growth[root] -= 1
            elif count == 1:
                legal_add(b, color, cell + steps[k])
                b.growth[near.mix[color]] += 1

    b.key ^= zobrist[color][cell] ^ side_key
    b.to_move = color
    b.stone_count[color] -= 1
    b.cells[root].next = place.next
    place.state = EMPTY
    place.root = undo.old_root
    place.next = undo.old_next
    legal_add(b, color, cell)
    b.growth[root] += 1
    if place.count[enemy] == 1:
        legal_add(b, enemy, cell)
        b.growth[place.mix[enemy]] += 1


def restore_root(b, color, root):
    """Put a removed root back: `remove_root` in reverse."""
    enemy: cython.int = 1 - color
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    near: cython.pointer(Cell)
    count: cython.int
    k: cython.int
    at: cython.int = root
    while at != 0:
        near = cython.address(b.cells[at])
        if near.count[enemy] == 1:
            legal_remove(b, enemy, at)
            b.growth[near.mix[enemy]] -= 1
        near.state = color
        at = near.next
    at = root
    while at != 0:
        for k in range(4):
            near = cython.address(b.cells[at + steps[k]])
            count = near.count[color]
            if near.state == EMPTY:
                if count == 1:
                    legal_remove(b, color, at + steps[k])
                    b.growth[near.mix[color]] -= 1
                elif count == 0:
                    legal_add(b, color, at + steps[k])
                    b.growth[root] += 1
            near.count[color] = count + 1
            near.mix[color] ^= root
        b.key ^= zobrist[color][at]
        b.stone_count[color] += 1
        at = b.cells[at].next
    b.root_count[color] += 1


# ---------------------------------------------------------------------------------
# 5 Counting and random games


def count_paths(b, depth, stop):
    """Return the number of paths of exactly `depth` turns; early ends do not count."""
    if depth == 0:
        return 1
    if winner_of(b) >= 0 or stop.flag:
        return 0
    moves: cython.int = b.legal_count[b.to_move]
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
    """Play uniformly random moves to the end; return the number of turns."""
    undo: Undo
    turns: cython.int = 0
    color: cython.int
    while b.root_count[BLACK] != 0 and b.root_count[WHITE] != 0:
        color = b.to_move
        make_move(
            b,
            b.legal[color][random_below(random, b.legal_count[color])],
            cython.address(undo),
        )
        turns += 1
    return turns


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
    if b.root_count[BLACK] == 0:
        return 0
    if b.root_count[WHITE] == 0:
        return 1
    lead: cython.double = (
        b.legal_count[BLACK]
        - b.legal_count[WHITE]
        + STONE_WEIGHT * (b.stone_count[BLACK] - b.stone_count[WHITE])
        + ROOT_WEIGHT * (b.root_count[BLACK] - b.root_count[WHITE])
    )
    points: cython.int = b.legal_count[BLACK] + b.legal_count[WHITE]
    return logistic(lead / (BASE_SCALE + GROWTH_SCALE * points))


def move_weight(b, cell):
    """Return how promising a legal cell looks for the side to move; above 0.

    Looks at the four neighbours only: what the placement does to the growth points of
    the current root, of other own roots and of the enemy root that it touches.
    """
    color: cython.int = b.to_move
    enemy: cython.int = 1 - color
    place: cython.pointer(Cell) = cython.address(b.cells[cell])
    root: cython.int = place.mix[color]
    steps: cython.int[4]
    steps[:] = [-b.stride, -1, 1, b.stride]
    near: cython.pointer(Cell)
    spoilt: cython.int[4]
    spoilt_count: cython.int = 0
    gain: cython.int = -1  # the point itself
    i: cython.int
    k: cython.int
    for k in range(4):
        near = cython.address(b.cells[cell + steps[k]])
        if near.state == EMPTY:
            if near.count[color] == 0:
                gain += 1
            elif near.count[color] == 1:
                if near.mix[color] == root:
                    gain -= 1
                else:
                    spoilt[spoilt_count] = near.mix[color]
                    spoilt_count += 1
    if b.growth[root] + gain == 0:
        return SELF_BOUNDING
    weight: cython.double = growth_weight[gain - spoilt_count + 4]
    if place.count[enemy] == 1:
        weight *= TAKES_GROWTH
        if b.growth[place.mix[enemy]] == 1:
            weight *= REMOVES_ENEMY
    hits: cython.int
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
    color: cython.int = b.to_move
    moves: cython.int = b.legal_count[color]
    one: cython.int = b.legal[color][random_below(random, moves)]
    if moves == 1:
        return one
    two: cython.int = b.legal[color][random_below(random, moves)]
    if one == two or move_weight(b, one) >= move_weight(b, two):
        return one
    return two


def rollout(b, random):
    """Play a short informed game on `b`; return Black's win probability at its end."""
    undo: Undo
    ply: cython.int
    for ply in range(ROLLOUT_PLIES):
        if b.root_count[BLACK] == 0 or b.root_count[WHITE] == 0:
            break
        make_move(b, choose_rollout_move(b, random), cython.address(undo))
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
    undo: Undo
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
        make_move(cython.address(t.board), node.cell, cython.address(undo))
        depth += 1
        t.path[depth] = node
    back_up(t, depth, leaf_value(t, node))  # Steps 5 and 6


def expand(t, parent):
    """Give a node its children with normalised priors, if the tree has room."""
    b: cython.pointer(Board) = cython.address(t.board)
    moves: cython.int = b.legal_count[b.to_move]
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
        return 1 if b.root_count[WHITE] == 0 else 0
    return rollout(b, cython.address(t.random))


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

    Proven losses come last; among equals the better mean, then the first.
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
        elif mean_result(child) > mean_result(best):
            best = child
    return best


def mean_result(node):
    """Return the mean result of a node; an unvisited one counts as even."""
    return node.total / node.visits if node.visits != 0 else 0.5


# ---------------------------------------------------------------------------------
# 8 What Python sees


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
        cell: cython.int
        for color, points in enumerate((black, white)):
            for point in points:
                if not 0 <= point < width * height:
                    raise ValueError(f"point {point} is off the board")
                row, column = divmod(point, width)
                cell = (row + 1) * b.stride + column + 1
                if b.cells[cell].state != EMPTY:
                    raise ValueError(f"two stones on point {point}")
                put_stone(b, color, cell)
        derive(b)
        if to_move == WHITE:
            b.to_move = WHITE
            b.key ^= side_key

    def __dealloc__(self):
        free(self.history)

    def point_of(self, cell):
        """Return the point of a cell."""
        stride: cython.int = self.board.stride
        return (cell // stride - 1) * self.board.width + cell % stride - 1

    def points_in(self, state):
        """Return the points of all cells in a state, sorted."""
        cell: cython.int
        return [
            self.point_of(cell)
            for cell in range(self.board.cell_count)
            if self.board.cells[cell].state == state
        ]

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
        return self.board.key

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
        return self.points_in(color)

    def stone_count(self, color):
        """Return the number of stones of a colour."""
        return self.board.stone_count[cython.cast(cython.int, color)]

    def root_count(self, color):
        """Return the number of roots of a colour."""
        return self.board.root_count[cython.cast(cython.int, color)]

    def is_legal(self, color, point):
        """Tell whether a colour may place a stone there (R3); False after the end."""
        if not 0 <= point < self.board.width * self.board.height:
            return False
        row, column = divmod(point, self.board.width)
        cell: cython.int = (row + 1) * self.board.stride + column + 1
        side: cython.int = color
        return (
            self.board.cells[cell].state == EMPTY
            and self.board.cells[cell].count[side] == 1
            and self.winner < 0
        )

    def legal_moves(self, color):
        """Return the legal points of a colour, sorted; none after the end."""
        side: cython.int = color
        i: cython.int
        if self.winner >= 0:
            return []
        return sorted(
            [
                self.point_of(self.board.legal[side][i])
                for i in range(self.board.legal_count[side])
            ]
        )

    def roots(self):
        """Return (colour, stones, growth points) of every root, points sorted.

        Black's roots first, each colour by its lowest stone.
        """
        found = {}
        cell: cython.int
        color: cython.int
        place: cython.pointer(Cell)
        for cell in range(self.board.cell_count):
            place = cython.address(self.board.cells[cell])
            point = self.point_of(cell)
            if place.state <= WHITE:
                root = found.setdefault(place.root, (int(place.state), [], []))
                root[1].append(point)
        for cell in range(self.board.cell_count):
            place = cython.address(self.board.cells[cell])
            if place.state == EMPTY:
                for color in range(2):
                    if place.count[color] == 1:
                        found[place.mix[color]][2].append(self.point_of(cell))
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
        before: cython.int = b.stone_count[0] + b.stone_count[1]
        row, column = divmod(point, b.width)
        make_move(
            b,
            (row + 1) * b.stride + column + 1,
            cython.address(self.history[self.turn_count]),
        )
        self.turn_count += 1
        return before + 1 - b.stone_count[0] - b.stone_count[1]

    def unmake(self):
        """Take back the last move and return its point.

        Raises:
            IndexError: no move is left to take back.
        """
        if self.turn_count == 0:
            raise IndexError("no move to take back")
        self.turn_count -= 1
        undo: cython.pointer(Undo) = cython.address(self.history[self.turn_count])
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
        cells = [b.legal[b.to_move][i] for i in range(b.legal_count[b.to_move])]
        return sorted([(self.point_of(cell), move_weight(b, cell)) for cell in cells])

    def check(self):
        """Compare all that moves keep up to date with the same position set up anew.

        Returns:
            An empty text, or what differs: for tests.
        """
        fresh: Board
        b: cython.pointer(Board) = cython.address(self.board)
        rebuild(cython.address(fresh), b)
        i: cython.int
        color: cython.int
        mine: cython.pointer(Cell)
        anew: cython.pointer(Cell)
        if b.key != fresh.key:
            return "key"
        for color in range(2):
            if b.stone_count[color] != fresh.stone_count[color]:
                return f"stone count of {color}"
            if b.root_count[color] != fresh.root_count[color]:
                return f"root count of {color}"
            count = b.legal_count[color]
            legal = sorted([b.legal[color][i] for i in range(count)])
            if count != fresh.legal_count[color] or legal != [
                fresh.legal[color][i] for i in range(count)
            ]:
                return f"legal list of {color}"
        same_root = {0: 0}  # root ids of the new board -> ids of this one
        for i in range(b.cell_count):
            mine = cython.address(b.cells[i])
            anew = cython.address(fresh.cells[i])
            if mine.state <= WHITE:
                if same_root.setdefault(anew.root, mine.root) != mine.root:
                    return f"root at {self.point_of(i)}"
                if b.growth[mine.root] != fresh.growth[anew.root]:
                    return f"growth points of the root at {self.point_of(i)}"
        for i in range(b.cell_count):
            mine = cython.address(b.cells[i])
            anew = cython.address(fresh.cells[i])
            for color in range(2):
                if mine.count[color] != anew.count[color]:
                    return f"neighbour count at {self.point_of(i)}"
                if mine.count[color] == 1:
                    if same_root[anew.mix[color]] != mine.mix[color]:
                        return f"neighbouring root at {self.point_of(i)}"
        return ""


def perft(position: Position, depth, stop: StopFlag = None):
    """Return the number of move paths of exactly `depth` turns.

    Args:
        position: where to start; unchanged.
        depth: 0 to 64.
        stop: ends the count early, which is then too small.
    """
    if not 0 <= depth <= 64:
        raise ValueError(f"depth is 0 to 64, not {depth}")
    board: Board
    turns: cython.int = depth
    total: uint64_t
    flag: StopFlag = StopFlag() if stop is None else stop
    copy_board(cython.address(board), cython.address(position.board))
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
    random: uint64_t = seed
    flag: StopFlag = StopFlag() if stop is None else stop
    moves: uint64_t = 0
    black: cython.int = 0
    white: cython.int = 0
    i: cython.int
    rebuild(cython.address(start), cython.address(position.board))
    with cython.nogil:
        for i in range(count):
            if flag.flag:
                break
            copy_board(cython.address(board), cython.address(start))
            moves += random_game(cython.address(board), cython.address(random))
            if board.root_count[WHITE] == 0:
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
        kind: PUCT, or UCT for the plain baseline.
    """

    def __init__(self, memory, kind=PUCT):
        if kind not in (PUCT, UCT):
            raise ValueError(f"kind is PUCT or UCT, not {kind}")
        self.memory = memory
        self.tree.kind = kind

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
        copy_board(cython.address(t.board), cython.address(t.start))
        t.random = seed
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
            raise MemoryError(f"no memory for a tree of {size >> 20} MB")
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
            value = mean_result(child) if child.proof == 0 else (child.proof + 1) / 2
            found.append(
                (
                    self.position.point_of(child.cell),
                    child.visits,
                    value,
                    child.prior,
                    child.proof,
                )
            )
        found.sort(key=lambda move: (move[4], move[1], move[2]), reverse=True)
        return found

    def best_move(self):
        """Return the point to play."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            raise ValueError("start a search first")
        return self.position.point_of(best_child(t, cython.address(t.nodes[1])).cell)

    def principal_variation(self):
        """Return the points of best play as far as it has been visited."""
        t: cython.pointer(Tree) = cython.address(self.tree)
        if t.nodes == cython.NULL:
            return []
        node: cython.pointer(Node) = cython.address(t.nodes[1])
        line = []
        while node.first != 0:
            node = best_child(t, node)
            if line and node.visits == 0:
                break
            line.append(self.position.point_of(node.cell))
        return line


fill_tables()
