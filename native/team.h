/* Threads that work on one reading together. */
#ifndef NMSPELLER_TEAM_H
#define NMSPELLER_TEAM_H

typedef struct team team;

/* The work of one member, of so many. */
typedef void member_work(void *context, int member, int members);

team *team_new(int threads);
void team_free(team *);
int team_members(const team *);

/* Let every member work, the caller as the first one. Where the team is at work already, the caller works alone. */
void team_run(team *, member_work *, void *context);

#endif
