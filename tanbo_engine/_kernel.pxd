# Declarations of the compiled kernel: structures, tables, and the C signature of every
# function in _kernel.py that Python does not call.

from libc.stdint cimport int16_t, int32_t, int64_t
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

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
    UNBORN = 0  # instead of the index of a node's children: it has none,
    EXPANDING = 1  # a thread is making them
    KEPT = 1 << 15  # mark of a block, in `block`
    MOST_WORKERS = 256
    BUSY_VISITS = 1024  # from here on descents through a node are made in batches
    CACHE_LINE = 64
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
    KINDS = 12  # what a cell looks like from beside it; see `classify`
    OUTSIDE = 11  # the kind of cells off the board
    CENTRES = 38  # what it looks like from itself; see `centre_of`
    QUADS = 3081  # four neighbours, up to symmetry
    PATTERN_LANES = 8  # sums of local patterns
    COUNTS = 7  # numbers about the whole board
    INPUTS = PATTERN_LANES + COUNTS  # of the network behind the sums
    HIDDEN = 16  # units of its hidden layer
    EFFECTS = 5 * 7 * 3 * 2 * 4  # what a move can do; see `effect_number`
    POLICY_STEPS = 256  # steps per unit of a policy's log weight
    POLICY_MIDDLE = 8 * POLICY_STEPS
    POLICY_SIZE = 2 * POLICY_MIDDLE + 1

# The prototype recipe of SEARCH.md C3: first guesses there, confirmed by matches.
cdef extern from *:
    """
    #define GOLDEN_GAMMA 0x9E3779B97F4A7C15ULL  /* splitmix64 */
    #define SPLIT_MIX_1 0xBF58476D1CE4E5B9ULL
    #define SPLIT_MIX_2 0x94D049BB133111EBULL
    #define EXPLORATION 1.0      /* PUCT constant */
    #define SMALL_EXPLORATION 0.6  /* ... on boards of up to SMALL_AREA points */
    #define SMALL_AREA 49
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
    const double EXPLORATION, SMALL_EXPLORATION, UCT_EXPLORATION
    const int SMALL_AREA
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
    uint8_t stone[CELLS]       # colour of the stone on a filled cell; NOBODY on guards
    uint16_t growth[SUMS]      # growth points of each root; see UNUSED

# What unmake needs. The list of a removed root stays in its (now empty) cells; only the
# link of the cell that was played on is overwritten, so it is kept here.
ctypedef struct Undo:
    uint16_t cell
    uint16_t root
    uint16_t old_next
    uint16_t removed_count
    uint16_t removed[MAX_REMOVED]   # root ids, in the order of removal

# One node of the search tree: a move and what became of it. The children of a node are
# one block of nodes, allocated after it, so that indices grow on the way down.
ctypedef struct Node:
    int64_t total      # sum of results for the side that made the move, `in_units`
    uint32_t visits    # descents through it, those under way included
    uint32_t first     # index of the first child, UNBORN or EXPANDING
    float prior
    uint32_t parent    # index of the node that it is a child of
    uint16_t count     # number of children
    uint16_t cell      # the move
    int16_t proof      # exact result, see chapter 7; 0: open
    uint16_t block     # of the first of a block: nodes in it, and KEPT while collecting

# How a tree is searched: a seam for every step, so that a match can decide on it.
ctypedef struct Recipe:
    bint learned_value   # leaves are valued by the learned evaluation, else by hand
    bint learned_prior   # moves are weighed by the learned policy, else by hand
    int plies            # of a rollout
    double exploration   # PUCT constant
    int batch            # visits made at once below busy nodes

# What a thread that searches has of its own.
ctypedef struct Worker:
    Random random
    Board anchor       # of the node that several descents begin at
    Board board        # of the descent in progress
    Node* path[MAX_DEPTH + 1]   # from the root; NULL behind a leaf
    int top            # of a batch: depth of the node that its descents begin at
    int left           # and how many are left to make

# What all of them share. Nodes change while others read them: through chapter 7's
# atomic steps only, where the tree is `shared`.
ctypedef struct Tree:
    Node* nodes        # nodes[0] and nodes[1] are not used
    Worker* workers
    uint32_t capacity
    uint32_t root      # index of the searched position
    int kind           # KIND_PUCT, KIND_UCT or KIND_PUCT0
    bint shared        # by more than one worker
    bint restricted    # moves that are `excluded` are not searched at the root
    Recipe recipe
    Board start        # the position that is searched
    uint8_t excluded[CELLS]
    uint32_t known_visits   # of the root when it became so
    int64_t known_total
    uint32_t used      # far from all that is only read: threads write to it
    uint32_t full      # 1: a node could not be expanded for lack of room

# The learned evaluation (chapter 6), as `load_weights` reads it.
ctypedef struct Weights:
    float linear[INPUTS]
    float hidden[INPUTS][HIDDEN]
    float hidden_bias[HIDDEN]
    float output[HIDDEN]
    float output_bias
    float scale                # a lane's sum of pattern weights is divided by this

# 1 Tables
cdef uint64_t zobrist[2][CELLS]
cdef uint64_t side_key
cdef double logistic_table[LOGISTIC_SIZE]
cdef double growth_weight[GROWTH_CHANGES]
cdef double log_table[257]
cdef uint8_t kind_table[8 + 8][8 + 8]
cdef uint8_t state_table[8][5]
cdef uint16_t quad_table[KINDS * KINDS * KINDS * KINDS]
cdef int16_t pattern_weights[CENTRES * QUADS][PATTERN_LANES]
cdef int16_t policy_weights[CENTRES * QUADS]
cdef int16_t effect_weights[EFFECTS]
cdef double policy_table[POLICY_SIZE]
cdef Weights weights
cdef double exponential(double x) noexcept nogil
cdef void fill_tables() noexcept nogil
cdef void fill_pattern_tables() noexcept nogil
cdef void number_quads() noexcept nogil
cdef Index mirrored(Index code) noexcept nogil

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
cdef double learned_value(const Board* b) noexcept nogil
cdef double learned_logit(const Board* b) noexcept nogil
cdef double judge_sums(const Board* b, const int32_t* sums) noexcept nogil
cdef void count_whole(const Board* b, float* counts) noexcept nogil
cdef void sum_patterns(const Board* b, int32_t* sums) noexcept nogil

# The patterns of a position as the side not to move sees them.
ctypedef struct Survey:
    int32_t sums[PATTERN_LANES]
    uint32_t patterns[CELLS]
    uint8_t kinds[CELLS]

# What a move changes in a survey.
ctypedef struct Change:
    int32_t sums[PATTERN_LANES]
    Index count                # cells that have another pattern now
    uint16_t cells[CELLS]      # these cells
    uint32_t patterns[CELLS]   # what each had before

cdef void take_survey(Board* b, Survey* survey) noexcept nogil
cdef double logit_after(const Board* b, Survey* survey, const Undo* undo) noexcept nogil
cdef void renew_around(
    const Board* b, Survey* survey, Change* change, Index cell
) noexcept nogil
cdef void renew_points_of_changed(
    const Board* b, Survey* survey, Change* change, const Undo* undo
) noexcept nogil
cdef void renew_points(
    const Board* b, Survey* survey, Change* change, Index color, uint32_t word
) noexcept nogil
cdef void classify(const Board* b, uint8_t* kinds) noexcept nogil
cdef int centre_of(const Board* b, Index cell, Index kind) noexcept nogil
cdef double network(const float* inputs) noexcept nogil
ctypedef struct Effect:
    Index left         # growth points that the current root has afterwards
    Index gain         # of them that are new, less those that are gone
    Index spoilt       # growth points that other own roots lose
    Index loses        # how many of those roots are bounded
    Index takes        # growth point of the enemy: 0 none, 1 of many, 2 of 2, 3 last

cdef void look_ahead(const Board* b, Index cell, Effect* effect) noexcept nogil
cdef double move_weight(const Board* b, Index cell) noexcept nogil
cdef Index effect_number(const Effect* effect) noexcept nogil
cdef double learned_weight(
    const Board* b, const uint8_t* kinds, Index cell
) noexcept nogil
cdef Index learned_log(
    const Board* b, const uint8_t* kinds, Index cell, const Effect* effect
) noexcept nogil
cdef Index choose_rollout_move(const Board* b, Random* random) noexcept nogil
cdef void choose_recipe(Recipe* recipe, const Board* b, int kind) noexcept nogil
cdef double rollout(Board* b, Random* random, const Recipe* recipe) noexcept nogil

# 7 Tree search
cdef extern from *:
    """
    /* Relaxed: every number may be read a moment late. Only the birth of children is
       ordered, so that whoever sees their index sees them complete. */
    #define read_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
    #define write_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
    #define read_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
    #define write_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
    #define add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
    /* Sums of results are whole numbers, so that one addition cannot be lost. */
    #define TOTAL_UNIT 2147483648.0  /* so those of 2**32 visits fit in 63 bits */
    static inline double read_total(const int64_t *p) {
        return (double) read_relaxed(p) * (1 / TOTAL_UNIT);
    }
    static inline int64_t in_units(double v) { return (int64_t) (v * TOTAL_UNIT); }
    static inline int claim(uint32_t *p) {
        uint32_t unborn = 0;
        return __atomic_compare_exchange_n(p, &unborn, 1, 0, __ATOMIC_RELAXED,
                                           __ATOMIC_RELAXED);
    }
    """
    uint32_t read_visits "read_relaxed"(const uint32_t*) noexcept nogil
    void write_visits "write_relaxed"(uint32_t*, uint32_t) noexcept nogil
    uint32_t add_visits "add_relaxed"(uint32_t*, uint32_t) noexcept nogil
    int read_proof "read_relaxed"(const int16_t*) noexcept nogil
    void write_proof "write_relaxed"(int16_t*, int16_t) noexcept nogil
    uint32_t read_first "read_acquire"(const uint32_t*) noexcept nogil
    void write_first "write_release"(uint32_t*, uint32_t) noexcept nogil
    double read_total(const int64_t*) noexcept nogil
    int64_t in_units(double) noexcept nogil
    int64_t read_sum "read_relaxed"(const int64_t*) noexcept nogil
    void add_sum "add_relaxed"(int64_t*, int64_t) noexcept nogil
    bint claim(uint32_t*) noexcept nogil

cdef int descend(Tree* t, Worker* w, uint32_t most) noexcept nogil
cdef void choose_batch(Tree* t, Worker* w) noexcept nogil
cdef bint is_busy(const Tree* t, const Node* node) noexcept nogil
cdef int64_t descend_from(Tree* t, Worker* w, int top) noexcept nogil
cdef void visit(const Tree* t, Node* node, int count) noexcept nogil
cdef bint is_ripe(Tree* t, const Node* node) noexcept nogil
cdef void expand(Tree* t, const Board* b, Node* parent) noexcept nogil
cdef void add_children(
    Tree* t, const Board* b, Node* parent, Node* child
) noexcept nogil
cdef Node* select_puct(const Tree* t, const Node* parent) noexcept nogil
cdef Node* select_uct(const Tree* t, Random* random, const Node* parent) noexcept nogil
cdef double leaf_value(const Tree* t, Worker* w, Node* leaf) noexcept nogil
cdef int64_t back_up(
    const Tree* t, Worker* w, int depth, int top, int count, int64_t total
) noexcept nogil
cdef int proof_from_children(const Tree* t, const Node* parent) noexcept nogil
cdef Node* best_child(const Tree* t, const Node* parent) noexcept nogil
cdef bint is_better(const Node* one, const Node* two) noexcept nogil
cdef double mean_result(const Node* node) noexcept nogil
cdef double natural_log(uint32_t x) noexcept nogil
cdef void clear_node(Node* node) noexcept nogil
cdef Node snapshot(const Node* node) noexcept nogil
cdef void plant(Tree* t) noexcept nogil
cdef void unsettle(Tree* t) noexcept nogil
cdef void pass_gain_up(Tree* t) noexcept nogil
cdef uint32_t find_child(const Tree* t, uint32_t parent, Index cell) noexcept nogil
cdef void collect(Tree* t) noexcept nogil
cdef void keep_reachable(Tree* t) noexcept nogil
cdef uint32_t move_block(
    Tree* t, uint32_t source, uint32_t target, uint32_t size
) noexcept nogil

# 8 What Python sees
cdef bint weights_are_loaded
cdef int side_of(object color) except -1
cdef Index cell_of(const Board* b, Index point) noexcept nogil
cdef int require_weights() except -1
cdef bint is_finite(const Weights* network) noexcept

cdef class StopFlag:
    cdef uint32_t flag

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
    cdef dict changes
    cdef Position position
    cdef bint is_started
    cdef int worker_count
    cdef void* room    # that the nodes are in
    cdef int take_memory(self) except -1
    cdef int change_recipe(self) except -1
    cdef bint reroot(self, undone, played) except -1
    cdef int exclude(self, only) except -1
    cdef list line_from(self, const Node* node)
    cdef str check_blocks(self)
    cdef str check_node(self, Board* b, uint32_t index, uint32_t most_own)
    cdef str check_proof(self, uint32_t index)
