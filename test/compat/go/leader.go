package main

import (
	"context"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var leaderChecks = []check{{"leader/election", leaderElection}}

func leaderElection(ctx context.Context, t *test, c *cluster) {
	var leading atomic.Int32
	var leader atomic.Value
	leader.Store("")
	campaign := func(ctx context.Context, name string) {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, c.namespace, "check", c.kube.CoreV1(), c.kube.CoordinationV1(),
			resourcelock.ResourceLockConfig{Identity: name})
		t.must(err, "lock")
		go leaderelection.RunOrDie(ctx, leaderelection.LeaderElectionConfig{
			Lock: lock, ReleaseOnCancel: true, Name: "check",
			LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					leading.Add(1)
					leader.Store(name)
					<-ctx.Done()
					leading.Add(-1)
				},
				OnStoppedLeading: func() {},
			},
		})
	}
	is := func(name string) func(context.Context) (bool, error) {
		return func(context.Context) (bool, error) { return leader.Load() == name, nil }
	}
	first, stopFirst := context.WithCancel(ctx)
	defer stopFirst()
	second, stopSecond := context.WithCancel(ctx)
	defer stopSecond()
	campaign(first, "first")
	t.eventually(ctx, "the first leads", is("first"))
	campaign(second, "second")
	t.stays(ctx, "one leads", time.Second, func(context.Context) (bool, error) { return leading.Load() == 1 && leader.Load() == "first", nil })
	stopFirst()
	t.eventually(ctx, "the second leads when the first lets go", is("second"))
	lease, err := c.kube.CoordinationV1().Leases(c.namespace).Get(ctx, "check", metav1.GetOptions{})
	t.must(err, "get the lease")
	t.equal("holder", *lease.Spec.HolderIdentity, "second")
	t.equal("changes of the leader", *lease.Spec.LeaseTransitions, int32(1))
}
