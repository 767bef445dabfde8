package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
)

var subresourceChecks = []check{
	{"subresource/status", subresourceStatus},
	{"subresource/scale", subresourceScale},
	{"subresource/scale-any", subresourceScaleAny},
	{"subresource/binding", subresourceBinding},
	{"subresource/eviction", subresourceEviction},
	{"subresource/finalize", subresourceFinalize},
}

func subresourceStatus(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	made, err := client.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	t.must(err, "create")
	replicas := int32(9)
	made.Spec.Replicas = &replicas
	made.Status.Replicas, made.Status.ReadyReplicas = 3, 3
	got, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update the status")
	t.equal("ready", got.Status.ReadyReplicas, int32(3))
	t.equal("replicas wanted", *got.Spec.Replicas, int32(1))
	t.equal("generation", got.Generation, int64(1))
	got.Status.ReadyReplicas = 0
	again, err := client.Update(ctx, got, metav1.UpdateOptions{})
	t.must(err, "update")
	t.equal("ready, which an update leaves alone", again.Status.ReadyReplicas, int32(3))
}

func subresourceScale(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	_, err := client.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	t.must(err, "create")
	one, err := client.GetScale(ctx, "web", metav1.GetOptions{})
	t.must(err, "get the scale")
	t.equal("selector", one.Status.Selector, "app=web")
	one.Spec.Replicas = 5
	_, err = client.UpdateScale(ctx, "web", one, metav1.UpdateOptions{})
	t.must(err, "update the scale")
	_, err = client.UpdateScale(ctx, "web", one, metav1.UpdateOptions{})
	t.refused("an update of an older version", err, apierrors.IsConflict)
	whole, err := client.Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("replicas", *whole.Spec.Replicas, int32(5))
}

// The client that autoscalers use: it finds out by discovery what can be scaled.
func subresourceScaleAny(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "fields", "Field")
	_, err := c.dynamic.Resource(resource).Namespace(c.namespace).Create(ctx, custom(resource, "Field", "one", object{"replicas": int64(2)}), metav1.CreateOptions{})
	t.must(err, "create")
	_, err = c.kube.AppsV1().StatefulSets(c.namespace).List(ctx, metav1.ListOptions{})
	t.must(err, "list")
	cached := memory.NewMemCacheClient(c.discovery)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cached)
	scales, err := scale.NewForConfig(c.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(c.discovery))
	t.must(err, "scale client")
	client := scales.Scales(c.namespace)
	which := schema.GroupResource{Group: resource.Group, Resource: resource.Resource}
	one, err := client.Get(ctx, which, "one", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("replicas", one.Spec.Replicas, int32(2))
	one.Spec.Replicas = 3
	one, err = client.Update(ctx, which, one, metav1.UpdateOptions{})
	t.must(err, "update")
	t.equal("replicas", one.Spec.Replicas, int32(3))
	one, err = client.Patch(ctx, resource, "one", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{})
	t.must(err, "patch")
	t.equal("replicas", one.Spec.Replicas, int32(4))
}

func subresourceBinding(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().Pods(c.namespace)
	_, err := client.Create(ctx, pod("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "one"}, Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	t.must(client.Bind(ctx, binding, metav1.CreateOptions{}), "bind")
	bound, err := client.Get(ctx, "one", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("node", bound.Spec.NodeName, "node-1")
	t.refused("a second binding", client.Bind(ctx, binding, metav1.CreateOptions{}), apierrors.IsConflict)
}

func subresourceEviction(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().Pods(c.namespace)
	budgets := c.kube.PolicyV1().PodDisruptionBudgets(c.namespace)
	labels := map[string]string{"app": "web"}
	for _, name := range []string{"one", "two"} {
		made, err := client.Create(ctx, pod(name, labels), metav1.CreateOptions{})
		t.must(err, "create")
		// Pods that are not running may always be evicted.
		made.Status.Phase = corev1.PodRunning
		made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_, err = client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
		t.must(err, "run")
	}
	one := intstr.FromInt32(1)
	budget, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}, metav1.CreateOptions{})
	t.must(err, "create the budget")
	budget.Status = policyv1.PodDisruptionBudgetStatus{ObservedGeneration: budget.Generation, DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2}
	_, err = budgets.UpdateStatus(ctx, budget, metav1.UpdateOptions{})
	t.must(err, "what the disruption controller would write")
	eviction := func(name string) *policyv1.Eviction {
		return &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	t.must(client.EvictV1(ctx, eviction("one")), "evict the first")
	err = client.EvictV1(ctx, eviction("two"))
	t.refused("the second", err, apierrors.IsTooManyRequests)
	t.that(apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause), "the cause is the budget")
	after, err := budgets.Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get the budget")
	t.equal("disruptions left", after.Status.DisruptionsAllowed, int32(0))
}

func subresourceFinalize(ctx context.Context, t *test, c *cluster) {
	namespace, err := c.kube.CoreV1().Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
	t.must(err, "get")
	namespace.Spec.Finalizers = append(namespace.Spec.Finalizers, "example.com/hold")
	held, err := c.kube.CoreV1().Namespaces().Finalize(ctx, namespace, metav1.UpdateOptions{})
	t.must(err, "add a finalizer")
	t.must(c.kube.CoreV1().Namespaces().Delete(ctx, c.namespace, metav1.DeleteOptions{}), "delete")
	t.eventually(ctx, "only ours is left", func(ctx context.Context) (bool, error) {
		held, err = c.kube.CoreV1().Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
		return err == nil && len(held.Spec.Finalizers) == 1, err
	})
	held.Spec.Finalizers = nil
	_, err = c.kube.CoreV1().Namespaces().Finalize(ctx, held, metav1.UpdateOptions{})
	t.must(err, "let it go")
	_, err = c.kube.CoreV1().Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
	t.refused("reading what is gone", err, apierrors.IsNotFound)
}
