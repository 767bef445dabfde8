package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

var deletionChecks = []check{
	{"delete/background", deleteBackground},
	{"delete/foreground", deleteForeground},
	{"delete/orphan", deleteOrphan},
	{"delete/finalizer", deleteFinalizer},
	{"delete/preconditions", deletePreconditions},
	{"delete/collection", deleteCollection},
	{"delete/namespace", deleteNamespace},
	{"delete/custom-owner", deleteCustomOwner},
}

func (c *cluster) configMapOf(ctx context.Context, t *test, owner metav1.Object, version, kind, name string, finalizers ...string) {
	one := configMap(name, nil)
	one.Finalizers = finalizers
	one.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: version, Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: ptr.To(true),
	}}
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(ctx, one, metav1.CreateOptions{})
	t.must(err, "create a dependent")
}

func (c *cluster) isGone(ctx context.Context, name string) (bool, error) {
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return false, err
}

func (c *cluster) owner(ctx context.Context, t *test) metav1.Object {
	made, err := c.kube.AppsV1().Deployments(c.namespace).Create(ctx, deployment("owner", 0), metav1.CreateOptions{})
	t.must(err, "create the owner")
	return made
}

func propagate(policy metav1.DeletionPropagation) metav1.DeleteOptions {
	return metav1.DeleteOptions{PropagationPolicy: &policy}
}

func deleteBackground(ctx context.Context, t *test, c *cluster) {
	owner := c.owner(ctx, t)
	c.configMapOf(ctx, t, owner, "apps/v1", "Deployment", "child")
	child, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(ctx, "child", metav1.GetOptions{})
	t.must(err, "get")
	c.configMapOf(ctx, t, child, "v1", "ConfigMap", "grandchild")
	t.must(c.kube.AppsV1().Deployments(c.namespace).Delete(ctx, "owner", propagate(metav1.DeletePropagationBackground)), "delete")
	_, err = c.kube.AppsV1().Deployments(c.namespace).Get(ctx, "owner", metav1.GetOptions{})
	t.refused("reading the owner, which goes first", err, apierrors.IsNotFound)
	t.eventually(ctx, "the dependents are collected", func(ctx context.Context) (bool, error) {
		child, err := c.isGone(ctx, "child")
		if err != nil || !child {
			return false, err
		}
		return c.isGone(ctx, "grandchild")
	})
}

func deleteForeground(ctx context.Context, t *test, c *cluster) {
	owner := c.owner(ctx, t)
	c.configMapOf(ctx, t, owner, "apps/v1", "Deployment", "child", "example.com/hold")
	client := c.kube.AppsV1().Deployments(c.namespace)
	t.must(client.Delete(ctx, "owner", propagate(metav1.DeletePropagationForeground)), "delete")
	t.eventually(ctx, "the dependent is being deleted", func(ctx context.Context) (bool, error) {
		child, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(ctx, "child", metav1.GetOptions{})
		return err == nil && child.DeletionTimestamp != nil, err
	})
	waiting, err := client.Get(ctx, "owner", metav1.GetOptions{})
	t.must(err, "get the owner, which waits")
	t.equal("finalizers", waiting.Finalizers, []string{metav1.FinalizerDeleteDependents})
	_, err = c.kube.CoreV1().ConfigMaps(c.namespace).Patch(ctx, "child", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	t.must(err, "let the dependent go")
	t.eventually(ctx, "the owner is gone", func(ctx context.Context) (bool, error) {
		_, err := client.Get(ctx, "owner", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func deleteOrphan(ctx context.Context, t *test, c *cluster) {
	owner := c.owner(ctx, t)
	c.configMapOf(ctx, t, owner, "apps/v1", "Deployment", "child")
	t.must(c.kube.AppsV1().Deployments(c.namespace).Delete(ctx, "owner", propagate(metav1.DeletePropagationOrphan)), "delete")
	t.eventually(ctx, "the dependent loses its reference", func(ctx context.Context) (bool, error) {
		child, err := c.kube.CoreV1().ConfigMaps(c.namespace).Get(ctx, "child", metav1.GetOptions{})
		return err == nil && len(child.OwnerReferences) == 0, err
	})
	t.eventually(ctx, "the owner is gone", func(ctx context.Context) (bool, error) {
		_, err := c.kube.AppsV1().Deployments(c.namespace).Get(ctx, "owner", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
	t.stays(ctx, "the dependent stays", 500*time.Millisecond, func(ctx context.Context) (bool, error) {
		gone, err := c.isGone(ctx, "child")
		return !gone, err
	})
}

func deleteFinalizer(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	one := configMap("one", nil)
	one.Finalizers = []string{"example.com/a", "example.com/b"}
	_, err := client.Create(ctx, one, metav1.CreateOptions{})
	t.must(err, "create")
	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{}), "delete")
	held, err := client.Get(ctx, "one", metav1.GetOptions{})
	t.must(err, "get")
	t.that(held.DeletionTimestamp != nil, "it is being deleted")
	held.Finalizers = append(held.Finalizers, "example.com/c")
	_, err = client.Update(ctx, held, metav1.UpdateOptions{})
	t.refused("a new finalizer after deletion began", err, apierrors.IsInvalid)
	held.Finalizers = []string{"example.com/b"}
	held, err = client.Update(ctx, held, metav1.UpdateOptions{})
	t.must(err, "remove one")
	held.Finalizers = nil
	_, err = client.Update(ctx, held, metav1.UpdateOptions{})
	t.must(err, "remove the last one")
	gone, err := c.isGone(ctx, "one")
	t.must(err, "get")
	t.that(gone, "it goes with its last finalizer")
}

func deletePreconditions(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	made, err := client.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	err = client.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions("other")})
	t.refused("another uid", err, apierrors.IsConflict)
	err = client.Delete(ctx, "one", *metav1.NewRVDeletionPrecondition("1"))
	t.refused("another version", err, apierrors.IsConflict)
	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID, ResourceVersion: &made.ResourceVersion}}), "delete this one")
}

func deleteCollection(ctx context.Context, t *test, c *cluster) {
	makeMany(ctx, t, c)
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	_, err := client.Create(ctx, configMap("other", nil), metav1.CreateOptions{})
	t.must(err, "create")
	t.must(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "many=yes"}), "delete the collection")
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "many=yes"})
	t.must(err, "list")
	t.equal("left", len(list.Items), 0)
	_, err = client.Get(ctx, "other", metav1.GetOptions{})
	t.must(err, "what was not selected is there")
}

func deleteNamespace(ctx context.Context, t *test, c *cluster) {
	_, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(ctx, configMap("inside", nil), metav1.CreateOptions{})
	t.must(err, "create")
	_, err = c.kube.CoreV1().Pods(c.namespace).Create(ctx, pod("inside", nil), metav1.CreateOptions{})
	t.must(err, "create")
	t.must(c.kube.CoreV1().Namespaces().Delete(ctx, c.namespace, metav1.DeleteOptions{}), "delete")
	t.eventually(ctx, "the namespace is gone", func(ctx context.Context) (bool, error) {
		namespace, err := c.kube.CoreV1().Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
		if err == nil && namespace.Status.Phase != corev1.NamespaceTerminating {
			t.fail("phase %s", namespace.Status.Phase)
		}
		return apierrors.IsNotFound(err), nil
	})
	gone, err := c.isGone(ctx, "inside")
	t.must(err, "get")
	t.that(gone, "what was in it is gone")
}

func deleteCustomOwner(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "forests", "Forest")
	client := c.dynamic.Resource(resource).Namespace(c.namespace)
	owner, err := client.Create(ctx, custom(resource, "Forest", "one", object{}), metav1.CreateOptions{})
	t.must(err, "create")
	c.configMapOf(ctx, t, owner, "forests.example.com/v1", "Forest", "child")
	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{}), "delete")
	t.eventually(ctx, "the dependent is collected", func(ctx context.Context) (bool, error) { return c.isGone(ctx, "child") })
}
