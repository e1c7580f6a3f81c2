# Declarations of the alpha-beta search: structures, constants, and the C signature of
# every function in _alphabeta.py that Python does not call.

from libc.stdint cimport int16_t, int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from tanbo_engine._kernel cimport (
    BLACK,
    CELLS,
    MOST_WORKERS,
    WHITE,
    Board,
    Effect,
    Index,
    Position,
    Random,
    StopFlag,
    Survey,
    Undo,
    board_key,
    cell_of,
    classify,
    is_single,
    key_change,
    learned_log,
    learned_logit,
    learned_weight,
    logistic,
    logit_after,
    look_ahead,
    make_move,
    natural_log,
    random_below,
    read_visits,
    rebuild,
    require_weights,
    seed_random,
    take_survey,
    unmake_move,
)

from tanbo_engine._memory cimport prefer_large_pages

cdef enum:
    # Scores
    UNIT = 1000            # of one unit of the logistic function
    PROVEN = 28000         # a win or loss from here on; no evaluation is half of it
    WIN = 30000            # a win at once; one less for each ply to it
    INFINITE = 32000
    MOST_SCORE = 10000     # of an evaluation
    KNOWN = 1 << 16        # evaluations that are kept, and different scores

    # The line
    MAX_PLY = 128
    MOST_SHARE = 64        # nodes that a worker enters without a look at the others
    MOST_DEPTH = 120       # of an iteration
    ENTER = 0              # next: look at the position on top of the stack,
    BACK = 1               # give its value to the position before,
    FINISHED = 2           # or nothing

    # How the move of a frame is searched
    FULL = 0               # with the whole window
    SCOUT = 1              # whether it is better than the best so far
    REDUCED = 2            # the same to a smaller depth

    # Order of moves
    TABLE_ORDER = 1 << 30
    KILLER_ORDER = 1 << 15
    POLICY_ORDER = 64      # for each step of the policy
    HISTORY_STEP = 32      # for a refutation, times its bonus
    HISTORY_FADE = 512     # counts stay below HISTORY_STEP * HISTORY_FADE
    MOST_BONUS = 400

    # Windows and what is searched less: measured in matches
    CLEAR_DEPTH = 3        # so near the horizon the evaluation is enough if it is, for
    CLEAR_ABOVE = 150      # each ply, so far above the window
    CLEAR_BELOW = 300      # or so far below
    FIRST_WINDOW = 4       # depth of the first iteration that has one
    MARGIN = 60            # half of it
    MOST_MARGIN = 2000
    FIRST_LATE = 3         # index of the first move that may be reduced
    LEAST_REDUCED = 3      # depth of a position that may have such moves
    REDUCTIONS = 64        # size of their table

    # The table
    BUCKET = 4             # entries that one key may use: a cache line
    LEAST_ROOM = 1 << 10   # buckets
    FIRST_ROOM = 1 << 13   # of them, half a MB, in use at first
    MOST_COPIED = 1 << 16  # buckets whose entries move when the table grows
    MOST_AGE = 0xFFFF      # of 16 bits
    UPPER = 1              # the score is this or less,
    LOWER = 2              # this or more,
    EXACT = 3              # this

# What is known about a position.
ctypedef struct Fact:
    int score
    int depth
    int bound
    int age            # which search wrote it; 0 while empty
    uint16_t cell      # the best move, or 0

# The same in the table.
ctypedef struct Entry:
    uint64_t check     # the key ^ word
    uint64_t word

ctypedef struct Move:
    int32_t order      # the largest is tried first
    uint16_t cell
    bint quiet         # removes no root

# One position of the line.
ctypedef struct Frame:
    uint64_t key
    Move* moves
    int count          # of moves
    int index          # of the move under way
    int depth          # plies to search below
    int alpha          # scores up to here and
    int beta           # from here are as good as any others
    int floor          # alpha at first
    int best           # score found
    int mode           # FULL, SCOUT or REDUCED
    int reduction
    uint16_t best_cell
    uint16_t killer[2]
    bint is_surveyed
    Survey survey      # before the move under way
    Undo undo          # of the move under way

# A move of the position to search. The first is the best that is known.
ctypedef struct Choice:
    double prior
    int score          # of its last search
    int proof          # 1 the side to move wins, -1 it loses, 0 open
    uint16_t cell

# A search: the line is in frames[0] to frames[ply], the position to search first.
ctypedef struct Stack:
    Entry* table
    uint64_t* mask     # buckets in use - 1, a power of 2 less one; of all workers
    uint64_t most_mask  # what it may become
    bint is_first  # the worker that enlarges it
    uint64_t used      # entries of this search
    uint64_t nodes
    int age            # number of this search
    int oldest         # entries of earlier searches are of no use
    bint full          # an entry of this search had to go
    int state          # ENTER, BACK or FINISHED
    int ply            # of the position on top
    int value          # of the position on top, in state BACK
    int depth          # of the iteration
    int margin         # of its window, where it failed
    int score          # of the last finished iteration
    int choice_count
    Board board        # the position on top
    uint64_t known[KNOWN]   # evaluations; see `judge`
    uint64_t below[CELLS]   # nodes by the first move
    Frame frames[MAX_PLY]
    Choice choices[CELLS]
    int32_t history[2][CELLS]   # refutations by colour and cell
    Move pool[MAX_PLY * CELLS]  # where frames keep their moves

# 1 Tables
cdef int reductions[REDUCTIONS][REDUCTIONS]
cdef void fill_tables() noexcept nogil

# 2 Evaluation
cdef int evaluate(const Board* b) noexcept nogil
cdef int in_units(double logit) noexcept nogil
cdef int judge(Stack* s) noexcept nogil
cdef int judge_anew(Stack* s) noexcept nogil
cdef int value_on_top(Stack* s) noexcept nogil

# 3 A search from outside
cdef void begin(
    Stack* s, const uint8_t* excluded, uint64_t seed, int depth
) noexcept nogil
cdef void forget(Stack* s) noexcept nogil
cdef void list_choices(
    Stack* s, const uint8_t* excluded, uint64_t seed
) noexcept nogil
cdef void begin_iteration(Stack* s, int alpha, int beta) noexcept nogil
cdef void end_iteration(Stack* s) noexcept nogil
cdef void note_choice(Stack* s, int value) noexcept nogil
cdef int best_choice(const Stack* s) noexcept nogil

# 4 One position of the line
cdef void search_on(Stack* s, uint64_t end, StopFlag stop) noexcept nogil
cdef void enter(Stack* s) noexcept nogil
cdef bint is_clear(Stack* s) noexcept nogil
cdef void open_frame(Frame* f) noexcept nogil
cdef void list_moves(Stack* s, Frame* f, uint16_t hash_cell) noexcept nogil
cdef void advance(Stack* s) noexcept nogil
cdef void bring_forward(Frame* f) noexcept nogil
cdef int reduction_of(const Frame* f) noexcept nogil
cdef void push(Stack* s) noexcept nogil
cdef void receive(Stack* s) noexcept nogil
cdef void reward(Stack* s, Frame* f) noexcept nogil
cdef void learn(int32_t* count, int bonus) noexcept nogil
cdef void finish(Stack* s) noexcept nogil
cdef void give_back(Stack* s, int value) noexcept nogil

# 5 The table
cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil
    uint64_t read_word "read_relaxed"(const uint64_t*) noexcept nogil
    void write_word "write_relaxed"(uint64_t*, uint64_t) noexcept nogil

cdef void count_one(uint64_t* count) noexcept nogil
cdef Entry* bucket_of(const Stack* s, uint64_t key) noexcept nogil
cdef uint64_t packed(const Fact* fact) noexcept nogil
cdef void unpack(uint64_t word, Fact* fact) noexcept nogil
cdef bint probe(const Stack* s, uint64_t key, Fact* fact) noexcept nogil
cdef int score_here(const Fact* fact, int ply) noexcept nogil
cdef bint is_enough(const Stack* s, const Fact* fact) noexcept nogil
cdef void store(Stack* s, const Frame* f) noexcept nogil
cdef void grow(Stack* s) noexcept nogil

# 6 What Python sees
cdef class AlphaBeta:
    cdef Stack* stacks
    cdef Entry* table
    cdef uint64_t mask
    cdef uint64_t most_mask
    cdef uint64_t touched_mask
    cdef int age
    cdef int worker_count
    cdef Board start_board
    cdef size_t memory
    cdef Position position
    cdef int take_memory(self) except -1
    cdef void prepare(self, Stack* s) noexcept
    cdef uint64_t entered(self) noexcept nogil
    cdef uint64_t entered_below(self, Index cell) noexcept nogil
    cdef bint is_started(self) noexcept
    cdef double value_of(self, int i)
    cdef list line_from(self, Index cell)
