package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

var informerChecks = []check{
	{"informer/typed", informerTyped},
	{"informer/dynamic", informerDynamic},
	{"informer/metadata", informerMetadata},
	{"informer/list-and-watch", informerListAndWatch},
}

var everything = fields.Everything()

// notes are what an informer told, in order.
type notes struct {
	mutex sync.Mutex
	lines []string
}

func (n *notes) add(format string, arguments ...any) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, arguments...))
}

func (n *notes) all() string {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	return strings.Join(n.lines, " ")
}

// become waits until exactly that was told.
func (n *notes) become(ctx context.Context, t *test, want string) {
	for n.all() != want {
		if ctx.Err() != nil {
			t.fail("the informer told %q, not %q", n.all(), want)
		}
		time.Sleep(pollInterval)
	}
}

func (n *notes) handler() cache.ResourceEventHandlerDetailedFuncs {
	name := func(object any) string {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			return unknown.Key
		}
		return object.(metav1.Object).GetName()
	}
	return cache.ResourceEventHandlerDetailedFuncs{
		AddFunc:    func(object any, initial bool) { n.add("+%s", name(object)) },
		UpdateFunc: func(_, object any) { n.add("~%s", name(object)) },
		DeleteFunc: func(object any) { n.add("-%s", name(object)) },
	}
}

// follow makes, changes and deletes objects, and expects an informer to tell just that.
func follow(ctx context.Context, t *test, c *cluster, informer cache.SharedIndexInformer, start func()) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	labelled := func(name string) *corev1.ConfigMap {
		one := configMap(name, nil)
		one.Labels = map[string]string{"mine": "yes"}
		return one
	}
	_, err := client.Create(ctx, labelled("before"), metav1.CreateOptions{})
	t.must(err, "create")
	told := &notes{}
	_, err = informer.AddEventHandler(told.handler())
	t.must(err, "add a handler")
	start()
	t.that(cache.WaitForCacheSync(ctx.Done(), informer.HasSynced), "the informer has synced")
	told.become(ctx, t, "+before")
	made, err := client.Create(ctx, labelled("later"), metav1.CreateOptions{})
	t.must(err, "create")
	made.Data = map[string]string{"a": "1"}
	_, err = client.Update(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update")
	t.must(client.Delete(ctx, "before", metav1.DeleteOptions{}), "delete")
	told.become(ctx, t, "+before +later ~later -before")
	t.equal("keys of the store", informer.GetStore().ListKeys(), []string{c.namespace + "/later"})
}

func mine(options *metav1.ListOptions) { options.LabelSelector = "mine=yes" }

func watchLists(c *cluster) int {
	return c.wire.seen(func(e exchange) bool {
		return strings.Contains(e.query, "sendInitialEvents=true") && strings.HasSuffix(e.path, "/configmaps") && e.status == 200
	})
}

func plainLists(c *cluster) int {
	return c.wire.seen(func(e exchange) bool {
		return e.method == "GET" && strings.HasSuffix(e.path, "/configmaps") && !strings.Contains(e.query, "watch=true")
	})
}

func informerTyped(ctx context.Context, t *test, c *cluster) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(c.kube, time.Hour, informers.WithNamespace(c.namespace), informers.WithTweakListOptions(mine))
	informer := factory.Core().V1().ConfigMaps()
	follow(ctx, t, c, informer.Informer(), func() { factory.Start(ctx.Done()) })
	listed, err := informer.Lister().ConfigMaps(c.namespace).List(labels.Everything())
	t.must(err, "list from the store")
	t.equal("listed", len(listed), 1)
	t.equal("streams that began with the list", watchLists(c), 1)
	t.equal("plain lists", plainLists(c), 0)
}

func informerDynamic(ctx context.Context, t *test, c *cluster) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, time.Hour, c.namespace, mine)
	follow(ctx, t, c, factory.ForResource(configMaps).Informer(), func() { factory.Start(ctx.Done()) })
	t.equal("streams that began with the list", watchLists(c), 1)
}

func informerMetadata(ctx context.Context, t *test, c *cluster) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := metadatainformer.NewFilteredSharedInformerFactory(c.metadata, time.Hour, c.namespace, mine)
	follow(ctx, t, c, factory.ForResource(configMaps).Informer(), func() { factory.Start(ctx.Done()) })
	t.that(c.wire.seen(func(e exchange) bool { return strings.HasPrefix(e.received, protobuf+";stream=watch") }) > 0, "the stream was protobuf")
}

// Clients older than WatchList list first, in chunks, and then watch.
func informerListAndWatch(ctx context.Context, t *test, c *cluster) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	source := cache.ToListWatcherWithWatchListSemantics(cache.NewFilteredListWatchFromClient(c.kube.CoreV1().RESTClient(), "configmaps", c.namespace, mine), withoutWatchList{})
	informer := cache.NewSharedIndexInformer(source, &corev1.ConfigMap{}, 0, cache.Indexers{})
	follow(ctx, t, c, informer, func() { go informer.RunWithContext(ctx) })
	t.equal("streams that began with the list", watchLists(c), 0)
	t.that(plainLists(c) > 0, "it listed")
	_, err := client.Get(ctx, "later", metav1.GetOptions{})
	t.must(err, "get")
}

type withoutWatchList struct{}

func (withoutWatchList) IsWatchListSemanticsUnSupported() bool { return true }
