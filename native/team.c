#include "team.h"

#include <pthread.h>
#include <stdlib.h>

struct team {
    int members;
    pthread_mutex_t busy, lock;
    pthread_cond_t called, finished;
    unsigned long call;
    int unfinished, closing;
    member_work *work;
    void *context;
    pthread_t *threads;
    int started;
    team *next;
};

/* All teams: their threads do not survive a fork, so that the child makes them anew. */
static team *teams;
static pthread_mutex_t of_teams = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

typedef struct {
    team *team;
    int number;
} member;

static void *attend(void *given) {
    member own = *(member *)given;
    free(given);
    team *team = own.team;
    unsigned long seen = 0;
    pthread_mutex_lock(&team->lock);
    for (;;) {
        while (team->call == seen && !team->closing) pthread_cond_wait(&team->called, &team->lock);
        if (team->closing) break;
        seen = team->call;
        pthread_mutex_unlock(&team->lock);
        team->work(team->context, own.number, team->members);
        pthread_mutex_lock(&team->lock);
        if (--team->unfinished == 0) pthread_cond_signal(&team->finished);
    }
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/* A team without threads yet: they start with the first work. */
static void prepare(team *team) {
    pthread_mutex_init(&team->busy, NULL);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->called, NULL);
    pthread_cond_init(&team->finished, NULL);
    team->started = 0;
    team->call = 0;
    team->closing = 0;
}

static void before_fork(void) { pthread_mutex_lock(&of_teams); }

static void after_fork(void) { pthread_mutex_unlock(&of_teams); }

static void in_child(void) {
    pthread_mutex_init(&of_teams, NULL);
    for (team *each = teams; each; each = each->next) prepare(each);
}

static void watch_forks(void) {
#ifndef _WIN32
    pthread_atfork(before_fork, after_fork, in_child);
#endif
}

team *team_new(int threads) {
    team *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->members = threads;
    made->threads = calloc((size_t)threads, sizeof *made->threads);
    if (!made->threads) {
        free(made);
        return NULL;
    }
    prepare(made);
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&of_teams);
    made->next = teams;
    teams = made;
    pthread_mutex_unlock(&of_teams);
    return made;
}

int team_members(const team *team) { return team->members; }

static int start(team *team) {
    while (team->started < team->members - 1) {
        member *own = malloc(sizeof *own);
        if (!own) return 0;
        *own = (member){team, team->started + 1};
        if (pthread_create(&team->threads[team->started], NULL, attend, own)) {
            free(own);
            return 0;
        }
        team->started++;
    }
    return 1;
}

void team_run(team *team, member_work *work, void *context) {
    if (team->members == 1 || pthread_mutex_trylock(&team->busy)) {
        work(context, 0, 1);
        return;
    }
    pthread_mutex_lock(&team->lock);
    int all = start(team);
    if (all) {
        team->work = work;
        team->context = context;
        team->unfinished = team->members - 1;
        team->call++;
        pthread_cond_broadcast(&team->called);
    }
    pthread_mutex_unlock(&team->lock);
    work(context, 0, all ? team->members : 1);
    if (all) {
        pthread_mutex_lock(&team->lock);
        while (team->unfinished) pthread_cond_wait(&team->finished, &team->lock);
        pthread_mutex_unlock(&team->lock);
    }
    pthread_mutex_unlock(&team->busy);
}

void team_free(team *gone) {
    if (!gone) return;
    pthread_mutex_lock(&of_teams);
    team **place = &teams;
    while (*place != gone) place = &(*place)->next;
    *place = gone->next;
    pthread_mutex_unlock(&of_teams);
    pthread_mutex_lock(&gone->lock);
    gone->closing = 1;
    pthread_cond_broadcast(&gone->called);
    pthread_mutex_unlock(&gone->lock);
    for (int number = 0; number < gone->started; number++) pthread_join(gone->threads[number], NULL);
    free(gone->threads);
    free(gone);
}
