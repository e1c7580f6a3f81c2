# Declarations of the compiled prover: structures, and the C signature of every function
# in _prover.py that Python does not call.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from tanbo_engine._kernel cimport (
    CELLS, Board, Index, Position, Random, StopFlag, Survey, Undo
)
from tanbo_engine._memory cimport prefer_large_pages

cdef enum:
    MOST_SYMMETRIES = 8
    MOST_DIGITS = 40  # points whose number in base 3 fits into 64 bits
    BUCKET = 4  # entries that share a cache line
    NUMBER_BITS = 28  # of a proof number in an entry
    NEVER = (1 << NUMBER_BITS) - 1  # proof number of what is disproved
    EVEN = 12  # a guess of no lead is 2 to this power
    STEPS = 16  # of a guess for each doubling
    GUESSES = 2 * EVEN * STEPS + 1
    LARGE = 1 << 29  # bytes; small proofs should not wait until large pages are clear
    PATH_SHARE = 8  # one part in this many of the memory is for the path

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FETCH_AHEAD(address) __builtin_prefetch(address)
    #else
    #define FETCH_AHEAD(address) ((void) (address))
    #endif
    #define SCATTER 0x9E3779B97F4A7C15ULL  /* odd; 2**64 / golden ratio */
    """
    void FETCH_AHEAD(const void* address) noexcept nogil
    const uint64_t SCATTER

cdef uint32_t[GUESSES] powers

# How far a position is from a proof: both 1 or more, or one 0 and the other NEVER.
ctypedef struct Numbers:
    uint32_t proof     # that the side to move wins; 0: it does
    uint32_t disproof  # that it loses; 0: it does

# Per colour and symmetry of the board the sum of the weights of its stones' cells.
ctypedef struct Sums:
    uint64_t of[2][MOST_SYMMETRIES]

# What the table keeps of a position; zeros where there is none.
ctypedef struct Entry:
    uint64_t key
    uint64_t packed    # proof number, above it disproof number, above it effort

# A move and the position after it.
ctypedef struct Child:
    uint64_t key
    Numbers numbers    # for the side that is to move there
    uint16_t cell

# A position on the path from the start to the one that is worked on.
ctypedef struct Frame:
    uint64_t key
    uint64_t began     # moves made when it was entered
    Sums sums
    Undo undo          # of the move that leads to the next frame
    Numbers limits     # it is left when one of its numbers reaches its limit
    uint32_t first     # of its children
    uint32_t count     # of its children
    uint32_t chosen    # the child that the next frame is about

# What a frame's children say about it.
ctypedef struct Tally:
    Numbers numbers
    uint32_t best      # the child that is nearest to be lost for its side
    uint32_t second    # disproof number of the next nearest
    uint32_t rivals    # children without proof besides one

ctypedef struct Work:
    Board board        # of the last frame
    int symmetries     # of the board: 4, or 8 of a square
    uint64_t weight[CELLS][MOST_SYMMETRIES]
    Entry* table
    uint64_t buckets
    uint64_t used      # entries of the table
    Frame* frames
    int depth          # frames in use; 0 when the start is proved
    int most_depth
    Child* children    # of all frames in use
    uint32_t room      # for children
    uint64_t moves     # made since the start
    Numbers numbers    # of the start
    uint16_t best      # cell of the move that wins, if one does
    bint starved       # the path did not fit into its memory

# 1 Keys
cdef void weigh_cells(Work* w, int width, int height) noexcept nogil
cdef void add_up(const Work* w, Sums* sums) noexcept nogil
cdef uint64_t canonical(
    const Work* w, const Sums* sums, Index to_move
) noexcept nogil

# 2 The table
cdef Entry* bucket_of(const Work* w, uint64_t key) noexcept nogil
cdef bint look_up(const Work* w, uint64_t key, Numbers* numbers) noexcept nogil
cdef void store(
    Work* w, uint64_t key, Numbers numbers, uint64_t effort
) noexcept nogil
cdef uint64_t effort_of(const Work* w, uint64_t key) noexcept nogil
cdef uint64_t log_effort(uint64_t effort) noexcept nogil

# 3 The search
cdef void enter(Work* w, Sums* sums, uint64_t key, Numbers limits) noexcept nogil
cdef bint try_move(Work* w, Frame* f, Child* child, Survey* survey) noexcept nogil
cdef void fill_powers() noexcept
cdef Numbers guess(const Board* b, Survey* survey, const Undo* undo) noexcept nogil
cdef Tally count_up(const Work* w, const Frame* f) noexcept nogil
cdef void step(Work* w) noexcept nogil
cdef Numbers limits_below(
    const Frame* f, const Tally* tally, const Child* child
) noexcept nogil
cdef void leave(Work* w, Numbers numbers) noexcept nogil

cdef class Prover:
    cdef Work work
    cdef char* memory
    cdef size_t bound
    cdef int width
    cdef int height
    cdef Position position
    cdef int take_memory(self) except -1
