"""Jobs: work of seconds that a person asked for on a page. A job is a question about a pod or a cluster, a
comparison of two schedulers, or a workload that is played. Jobs are kept in Redis for some time, and job
runners run them.

    JobStore(store, COMPARISONS).submit(ComparisonJob(request))   # a web process
    JobStore(store, COMPARISONS).save(job)                        # a job runner: progress and result
    JobStore(store, COMPARISONS).read(key)                        # a web process
"""
