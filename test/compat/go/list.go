package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"
)

var listChecks = []check{
	{"list/pages", listPages},
	{"list/pager", listPager},
	{"list/resource-versions", listResourceVersions},
}

const manyObjects = 250

func makeMany(ctx context.Context, t *test, c *cluster) {
	for i := range manyObjects {
		one := configMap(fmt.Sprintf("many-%03d", i), nil)
		one.Labels = map[string]string{"many": "yes"}
		_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(ctx, one, metav1.CreateOptions{})
		t.must(err, "create")
	}
}

// All pages are of one moment, whatever is written in between.
func listPages(ctx context.Context, t *test, c *cluster) {
	makeMany(ctx, t, c)
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	options := metav1.ListOptions{Limit: 60}
	version := ""
	seen := map[string]bool{}
	for page := 0; ; page++ {
		list, err := client.List(ctx, options)
		t.must(err, "list")
		if version == "" {
			version = list.ResourceVersion
			t.equal("how many are left", *list.RemainingItemCount, int64(manyObjects+1-60))
		}
		t.equal("version of the page", list.ResourceVersion, version)
		for _, item := range list.Items {
			t.that(!seen[item.Name], item.Name+" comes once")
			seen[item.Name] = true
		}
		if list.Continue == "" {
			break
		}
		options.Continue = list.Continue
		// Behind and before the place the list has come to.
		_, err = client.Create(ctx, configMap(fmt.Sprintf("aaa-%d", page), nil), metav1.CreateOptions{})
		t.must(err, "create in between")
		t.must(client.Delete(ctx, fmt.Sprintf("many-%03d", manyObjects-1-page), metav1.DeleteOptions{}), "delete in between")
	}
	t.equal("objects of that moment", len(seen), manyObjects+1)
	options.Continue = "nonsense"
	_, err := client.List(ctx, options)
	t.refused("a token that is none", err, apierrors.IsBadRequest)
}

func listPager(ctx context.Context, t *test, c *cluster) {
	makeMany(ctx, t, c)
	chunks := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return c.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, options)
	})
	chunks.PageSize = 33
	count := 0
	err := chunks.EachListItem(ctx, metav1.ListOptions{LabelSelector: "many=yes"}, func(item runtime.Object) error {
		if _, ok := item.(*corev1.ConfigMap); !ok {
			return fmt.Errorf("not a ConfigMap: %T", item)
		}
		count++
		return nil
	})
	t.must(err, "each item")
	t.equal("items", count, manyObjects)
}

func listResourceVersions(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	first, err := client.Create(ctx, configMap("first", nil), metav1.CreateOptions{})
	t.must(err, "create")
	_, err = client.Create(ctx, configMap("second", nil), metav1.CreateOptions{})
	t.must(err, "create")
	exact, err := client.List(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	t.must(err, "list of exactly that moment")
	t.equal("version", exact.ResourceVersion, first.ResourceVersion)
	for _, item := range exact.Items {
		t.that(item.Name != "second", "what came later is not there")
	}
	newer, err := client.List(ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, LabelSelector: "!x"})
	t.must(err, "list not older than")
	t.that(newer.ResourceVersion != "", "the list has a version")
	_, err = client.List(ctx, metav1.ListOptions{ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	t.refused("a match without a version", err, apierrors.IsInvalid)
}
