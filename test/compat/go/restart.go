package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

var restartChecks = []check{{"restart/watch-and-informer", restartWatchAndInformer}}

// A watch goes on from its last version and an informer keeps what it knows, when the server comes back.
func restartWatchAndInformer(ctx context.Context, t *test, c *cluster) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	before := configMap("before", nil)
	before.Labels = map[string]string{"mine": "yes"}
	made, err := client.Create(ctx, before, metav1.CreateOptions{})
	t.must(err, "create")

	told := &notes{}
	factory := informers.NewSharedInformerFactoryWithOptions(c.kube, 0, informers.WithNamespace(c.namespace), informers.WithTweakListOptions(mine))
	informer := factory.Core().V1().ConfigMaps().Informer()
	_, err = informer.AddEventHandler(told.handler())
	t.must(err, "add a handler")
	factory.Start(ctx.Done())
	t.that(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "the informer has synced")
	source := cache.NewFilteredListWatchFromClient(c.kube.CoreV1().RESTClient(), "configmaps", c.namespace, mine)
	w, err := toolswatch.NewRetryWatcherWithContext(ctx, made.ResourceVersion, cache.ToWatcherWithContext(source))
	t.must(err, "watch")
	defer w.Stop()

	// A watch that ends in its first second counts as failed, and the informer would list again.
	time.Sleep(1500 * time.Millisecond)
	fmt.Println("RESTART")
	_, err = c.stdin.ReadString('\n')
	t.must(err, "wait for the restart")

	after := configMap("after", nil)
	after.Labels = map[string]string{"mine": "yes"}
	t.eventually(ctx, "the server takes an object", func(ctx context.Context) (bool, error) {
		limited, done := context.WithTimeout(ctx, time.Second)
		defer done()
		_, err := client.Create(limited, after, metav1.CreateOptions{})
		return err == nil, nil
	})
	event := next(ctx, t, w)
	t.equal("what the watch tells next", event.Object.(*corev1.ConfigMap).Name, "after")
	told.become(ctx, t, "+before +after")
}
