/* How the members of a team share the steps of a pass.
 *
 * A step is a number of independent pieces. Each member has an equal run of them, and helps the others when it is done
 * with its own, since a thread may have lost its core for a while. No member begins a step before all have finished
 * the one before. Who waits sleeps soon: on a busy machine the others need the core to finish.
 */
#ifndef NMSPELLER_SHARING_H
#define NMSPELLER_SHARING_H

#include <pthread.h>
#include <stdatomic.h>

#define MOST_MEMBERS 64
#define PATIENCE 500 /* looks, before a member sleeps: some tens of microseconds */

typedef struct {
    _Alignas(64) atomic_int next[MOST_MEMBERS]; /* the next piece of each run, in even and in odd steps */
    _Alignas(64) atomic_int next_odd[MOST_MEMBERS];
    _Alignas(64) atomic_uint arrived;
    atomic_uint asleep;
    pthread_mutex_t lock;
    pthread_cond_t complete;
} shared_steps;

static inline void begin_steps(shared_steps *shared) {
    pthread_mutex_init(&shared->lock, NULL);
    pthread_cond_init(&shared->complete, NULL);
}

static inline void end_steps(shared_steps *shared) {
    pthread_mutex_destroy(&shared->lock);
    pthread_cond_destroy(&shared->complete);
}

/* One member's view. */
typedef struct {
    shared_steps *shared;
    int member, members;
    unsigned step;
} sharer;

static inline int run_begin(int pieces, int member, int members) {
    return (int)((long long)pieces * member / members);
}

static inline void pause_briefly(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void sleep_until(shared_steps *shared, unsigned all) {
    pthread_mutex_lock(&shared->lock);
    atomic_fetch_add(&shared->asleep, 1);
    while (atomic_load(&shared->arrived) < all) pthread_cond_wait(&shared->complete, &shared->lock);
    atomic_fetch_sub(&shared->asleep, 1);
    pthread_mutex_unlock(&shared->lock);
}

static void wake(shared_steps *shared) {
    pthread_mutex_lock(&shared->lock);
    pthread_cond_broadcast(&shared->complete);
    pthread_mutex_unlock(&shared->lock);
}

/* Wait until all members are here. */
static void meet(sharer *own) {
    if (own->members == 1) return;
    shared_steps *shared = own->shared;
    unsigned all = (own->step + 1) * (unsigned)own->members;
    atomic_int *later = own->step % 2 ? shared->next : shared->next_odd;
    /* Nobody takes pieces of the step after this one before everyone is here, and all are done with its last use. */
    atomic_store_explicit(&later[own->member], 0, memory_order_relaxed);
    own->step++;
    if (atomic_fetch_add(&shared->arrived, 1) + 1 == all) {
        if (atomic_load(&shared->asleep)) wake(shared);
        return;
    }
    for (int looks = 0; looks < PATIENCE; looks++) {
        if (atomic_load_explicit(&shared->arrived, memory_order_acquire) >= all) return;
        pause_briefly();
    }
    sleep_until(shared, all);
}

/* The next piece of a step of so many for this member, or -1; `turn` is 0 at first. */
static int take(sharer *own, int pieces, int *turn) {
    if (own->members == 1) return *turn < pieces ? (*turn)++ : -1;
    atomic_int *next = own->step % 2 ? own->shared->next_odd : own->shared->next;
    for (; *turn < own->members; (*turn)++) {
        int of = (own->member + *turn) % own->members;
        int begin = run_begin(pieces, of, own->members), end = run_begin(pieces, of + 1, own->members);
        if (atomic_load_explicit(&next[of], memory_order_relaxed) >= end - begin) continue;
        int piece = begin + atomic_fetch_add_explicit(&next[of], 1, memory_order_relaxed);
        if (piece < end) return piece;
    }
    return -1;
}

#define FOR_EACH_PIECE(own, piece, pieces) \
    for (int turn_ = 0, piece = take(own, pieces, &turn_); piece >= 0; piece = take(own, pieces, &turn_))

#endif
