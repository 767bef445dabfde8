package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"
)

var watchChecks = []check{
	{"watch/events", watchEvents},
	{"watch/selector", watchSelector},
	{"watch/bookmarks", watchBookmarks},
	{"watch/initial-events", watchInitialEvents},
	{"watch/timeout", watchTimeout},
	{"watch/until", watchUntil},
}

type seenEvent struct {
	kind watch.EventType
	name string
}

func next(ctx context.Context, t *test, w watch.Interface) watch.Event {
	select {
	case event, open := <-w.ResultChan():
		if !open {
			t.fail("the watch has ended")
		}
		return event
	case <-ctx.Done():
		t.fail("no event came")
	}
	return watch.Event{}
}

func nextOf(ctx context.Context, t *test, w watch.Interface) seenEvent {
	event := next(ctx, t, w)
	one, ok := event.Object.(*corev1.ConfigMap)
	if !ok {
		t.fail("%s of a %T: %v", event.Type, event.Object, event.Object)
	}
	return seenEvent{event.Type, one.Name}
}

func watchEvents(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	list, err := client.List(ctx, metav1.ListOptions{})
	t.must(err, "list")
	w, err := client.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=one"})
	t.must(err, "watch")
	defer w.Stop()
	made, err := client.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	t.equal("first", nextOf(ctx, t, w), seenEvent{watch.Added, "one"})
	made.Data = map[string]string{"a": "1"}
	_, err = client.Update(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update")
	t.equal("second", nextOf(ctx, t, w), seenEvent{watch.Modified, "one"})
	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{}), "delete")
	gone := next(ctx, t, w)
	t.equal("third", gone.Type, watch.Deleted)
	t.equal("the last state", gone.Object.(*corev1.ConfigMap).Data, map[string]string{"a": "1"})
}

func watchSelector(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	w, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: "side=left"})
	t.must(err, "watch")
	defer w.Stop()
	one, err := client.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	for _, step := range []struct {
		side string
		want watch.EventType
	}{{"left", watch.Added}, {"right", watch.Deleted}, {"left", watch.Added}} {
		one.Labels = map[string]string{"side": step.side}
		one, err = client.Update(ctx, one, metav1.UpdateOptions{})
		t.must(err, "update")
		t.equal("turned "+step.side, nextOf(ctx, t, w), seenEvent{step.want, "one"})
	}
}

func watchBookmarks(ctx context.Context, t *test, c *cluster) {
	seconds := int64(4)
	list, err := c.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
	t.must(err, "list")
	w, err := c.kube.CoreV1().ConfigMaps(c.namespace).Watch(ctx, metav1.ListOptions{
		AllowWatchBookmarks: true, TimeoutSeconds: &seconds, ResourceVersion: list.ResourceVersion, LabelSelector: "nobody=here",
	})
	t.must(err, "watch")
	defer w.Stop()
	_, err = c.kube.CoreV1().Secrets(c.namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
	t.must(err, "create something else")
	event := next(ctx, t, w)
	t.equal("what comes before the end", event.Type, watch.Bookmark)
	t.that(event.Object.(*corev1.ConfigMap).ResourceVersion != "", "a bookmark has a version")
}

func watchInitialEvents(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	for _, name := range []string{"a", "b"} {
		one := configMap(name, nil)
		one.Labels = map[string]string{"mine": "yes"}
		_, err := client.Create(ctx, one, metav1.CreateOptions{})
		t.must(err, "create")
	}
	yes := true
	w, err := client.Watch(ctx, metav1.ListOptions{
		AllowWatchBookmarks: true, SendInitialEvents: &yes, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: "mine=yes",
	})
	t.must(err, "watch")
	defer w.Stop()
	t.equal("first", nextOf(ctx, t, w), seenEvent{watch.Added, "a"})
	t.equal("second", nextOf(ctx, t, w), seenEvent{watch.Added, "b"})
	end := next(ctx, t, w)
	t.equal("third", end.Type, watch.Bookmark)
	t.equal("the mark of the end", end.Object.(*corev1.ConfigMap).Annotations, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
}

func watchTimeout(ctx context.Context, t *test, c *cluster) {
	seconds := int64(2)
	w, err := c.kube.CoreV1().ConfigMaps(c.namespace).Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds, LabelSelector: "nobody=here"})
	t.must(err, "watch")
	select {
	case event, open := <-w.ResultChan():
		t.that(!open, "the end comes without an event, not "+string(event.Type))
	case <-ctx.Done():
		t.fail("the watch did not end")
	}
}

func watchUntil(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().Pods(c.namespace)
	_, err := client.Create(ctx, pod("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	go func() {
		time.Sleep(50 * time.Millisecond)
		read, err := client.Get(ctx, "one", metav1.GetOptions{})
		if err != nil {
			return
		}
		read.Status.Phase = corev1.PodRunning
		_, _ = client.UpdateStatus(ctx, read, metav1.UpdateOptions{})
	}()
	source := cache.NewListWatchFromClient(c.kube.CoreV1().RESTClient(), "pods", c.namespace, everything)
	last, err := toolswatch.UntilWithSync(ctx, source, &corev1.Pod{}, nil, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.Pod).Status.Phase == corev1.PodRunning, nil
	})
	t.must(err, "until it runs")
	t.equal("the last event", last.Object.(*corev1.Pod).Name, "one")
}
