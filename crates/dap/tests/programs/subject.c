/* Debugged by the tests. The comments `mark: NAME` are how they find lines. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct point {
    int x;
    int y;
};

int add(int a, int b) {
    int total = a + b; /* mark: add */
    return total;      /* mark: return */
}

int add_all(void) {
    int total = 0; /* mark: start */
    struct point point = {10, 20};
    for (int i = 0; i < 5; i++) {
        total = add(total, i); /* mark: call */
    }
    printf("total %d %d\n", total, point.x); /* mark: print */
    fflush(stdout);
    return total;
}

void crash(void) {
    int *nowhere = NULL;
    *nowhere = 1; /* mark: crash */
}

void *work(void *argument) {
    int answer = *(int *)argument * 2;
    return answer ? NULL : argument; /* mark: work */
}

void threads(void) {
    pthread_t thread;
    int number = 21;
    pthread_create(&thread, NULL, work, &number);
    pthread_join(thread, NULL);
}

void loop(void) {
    volatile unsigned long turns = 0;
    printf("looping %d\n", getpid());
    fflush(stdout);
    for (;;) {
        turns++; /* mark: loop */
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    if (strcmp(mode, "sum") == 0) {
        add_all();
        return 3;
    }
    if (strcmp(mode, "crash") == 0) {
        crash();
    } else if (strcmp(mode, "threads") == 0) {
        threads();
    } else if (strcmp(mode, "loop") == 0) {
        loop();
    }
    return 0;
}
