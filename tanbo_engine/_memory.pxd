# Large pages for what the searches keep, by the name that the system has for them.

cdef extern from *:
    """
    #if defined(__linux__)
    #include <sys/mman.h>
    #endif
    /* A hint: memory that is read all over is faster in large pages, and threads that
       touch new small ones wait for each other. Large ones are cleared as a whole at
       first use. What is small stays as it is. */
    static void prefer_large_pages(void* start, size_t size) {
    #if defined(__linux__) && defined(MADV_HUGEPAGE)
        size_t ahead = (size_t) start % 4096;
        if (size >> 22)
            madvise((char*) start - ahead, size + ahead, MADV_HUGEPAGE);
    #else
        (void) start;
        (void) size;
    #endif
    }
    """
    void prefer_large_pages(void* start, size_t size) noexcept nogil
