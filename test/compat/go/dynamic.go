package main

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var dynamicChecks = []check{
	{"dynamic/built-in", dynamicBuiltIn},
	{"dynamic/custom-resource", dynamicCustomResource},
	{"dynamic/status", dynamicStatus},
	{"metadata/built-in", metadataBuiltIn},
	{"metadata/custom-resource", metadataCustomResource},
}

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
)

func parseGroupVersion(text string) (schema.GroupVersion, error) {
	return schema.ParseGroupVersion(text)
}

func contains(all []string, one string) bool { return slices.Contains(all, one) }

type object = map[string]any

// A definition of its own for a check: the plural is also the name of the group, so that checks stay apart.
func definition(plural, kind string) *unstructured.Unstructured {
	group := plural + ".example.com"
	return &unstructured.Unstructured{Object: object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": plural + "." + group},
		"spec": object{
			"group": group, "scope": "Namespaced",
			"names": object{"plural": plural, "singular": strings.ToLower(kind), "kind": kind, "listKind": kind + "List", "shortNames": []any{plural[:3]}},
			"versions": []any{object{
				"name": "v1", "served": true, "storage": true,
				"subresources": object{
					"status": object{},
					"scale":  object{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
				},
				"schema": object{"openAPIV3Schema": object{
					"type": "object",
					"properties": object{
						"spec": object{"type": "object", "properties": object{
							"replicas": object{"type": "integer", "default": int64(1), "minimum": int64(0), "description": "How many."},
							"parts": object{
								"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"},
								"items": object{"type": "object", "required": []any{"name"}, "properties": object{
									"name": object{"type": "string"}, "size": object{"type": "integer"},
								}},
							},
						}},
						"status": object{"type": "object", "properties": object{"replicas": object{"type": "integer"}}},
					},
				}},
			}},
		},
	}}
}

// define creates a definition and waits until it is established. It returns the resource it serves.
func define(ctx context.Context, t *test, c *cluster, plural, kind string) schema.GroupVersionResource {
	crd := definition(plural, kind)
	_, err := c.dynamic.Resource(definitions).Create(ctx, crd, metav1.CreateOptions{})
	t.must(err, "create the definition")
	t.eventually(ctx, "the definition is established", func(ctx context.Context) (bool, error) {
		read, err := c.dynamic.Resource(definitions).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		// Null until the first controller has looked at it.
		conditions, _, _ := unstructured.NestedSlice(read.Object, "status", "conditions")
		for _, condition := range conditions {
			one := condition.(object)
			if one["type"] == "Established" && one["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	return schema.GroupVersionResource{Group: plural + ".example.com", Version: "v1", Resource: plural}
}

func custom(resource schema.GroupVersionResource, kind, name string, spec object) *unstructured.Unstructured {
	made := &unstructured.Unstructured{Object: object{"spec": spec}}
	made.SetGroupVersionKind(resource.GroupVersion().WithKind(kind))
	made.SetName(name)
	return made
}

func dynamicBuiltIn(ctx context.Context, t *test, c *cluster) {
	client := c.dynamic.Resource(configMaps).Namespace(c.namespace)
	made, err := client.Create(ctx, &unstructured.Unstructured{Object: object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "one"}, "data": object{"a": "1"},
	}}, metav1.CreateOptions{})
	t.must(err, "create")
	t.must(unstructured.SetNestedField(made.Object, "2", "data", "b"), "change")
	_, err = client.Update(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update")
	list, err := client.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=one"})
	t.must(err, "list")
	t.equal("kind of the list", list.GetKind(), "ConfigMapList")
	t.equal("items", len(list.Items), 1)
	t.equal("kind of the item", list.Items[0].GetKind(), "ConfigMap")
	t.must(client.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{FieldSelector: "metadata.name=one"}), "delete the collection")
	_, err = client.Get(ctx, "one", metav1.GetOptions{})
	t.refused("reading what was deleted", err, apierrors.IsNotFound)
}

func dynamicCustomResource(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "gardens", "Garden")
	client := c.dynamic.Resource(resource).Namespace(c.namespace)
	made, err := client.Create(ctx, custom(resource, "Garden", "one", object{"unknown": "x"}), metav1.CreateOptions{})
	t.must(err, "create")
	t.equal("defaulted and pruned", made.Object["spec"], object{"replicas": int64(1)})
	_, err = client.Create(ctx, custom(resource, "Garden", "two", object{"replicas": int64(-1)}), metav1.CreateOptions{})
	t.refused("what the schema forbids", err, apierrors.IsInvalid)
	_, err = client.Patch(ctx, "one", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	t.refused("a strategic merge of a custom resource", err, apierrors.IsUnsupportedMediaType)
	patched, err := client.Patch(ctx, "one", types.MergePatchType, []byte(`{"spec":{"replicas":3}}`), metav1.PatchOptions{})
	t.must(err, "patch")
	t.equal("generation", patched.GetGeneration(), int64(2))
	t.must(c.dynamic.Resource(definitions).Delete(ctx, "gardens.gardens.example.com", metav1.DeleteOptions{}), "delete the definition")
	t.eventually(ctx, "the resource is no longer served", func(ctx context.Context) (bool, error) {
		_, err := client.List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func dynamicStatus(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "rivers", "River")
	client := c.dynamic.Resource(resource).Namespace(c.namespace)
	made, err := client.Create(ctx, custom(resource, "River", "one", object{}), metav1.CreateOptions{})
	t.must(err, "create")
	made.Object["status"] = object{"replicas": int64(7)}
	made.Object["spec"] = object{"replicas": int64(9)}
	updated, err := client.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update the status")
	t.equal("status", updated.Object["status"], object{"replicas": int64(7)})
	t.equal("spec, which a status update leaves alone", updated.Object["spec"], object{"replicas": int64(1)})
	t.equal("generation", updated.GetGeneration(), int64(1))
	updated.Object["status"] = object{"replicas": int64(8)}
	again, err := client.Update(ctx, updated, metav1.UpdateOptions{})
	t.must(err, "update")
	t.equal("status, which an update leaves alone", again.Object["status"], object{"replicas": int64(7)})
}

// The metadata client is what garbage collectors and many operators see the cluster through.
func metadataBuiltIn(ctx context.Context, t *test, c *cluster) {
	dependent := configMap("one", map[string]string{"a": "1"})
	dependent.Labels = map[string]string{"l": "v"}
	dependent.Finalizers = []string{"example.com/hold"}
	made, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(ctx, dependent, metav1.CreateOptions{})
	t.must(err, "create")
	client := c.metadata.Resource(configMaps).Namespace(c.namespace)
	read, err := client.Get(ctx, "one", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("metadata", read.ObjectMeta, made.ObjectMeta)
	list, err := client.List(ctx, metav1.ListOptions{LabelSelector: "l=v"})
	t.must(err, "list")
	t.equal("items", len(list.Items), 1)
	t.that(c.wire.seen(func(e exchange) bool {
		return strings.Contains(e.accepted, "as=PartialObjectMetadataList") && e.received == protobuf
	}) == 1, "the list was metadata only, in protobuf")
	patched, err := client.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"annotations":{"note":"x"}}}`), metav1.PatchOptions{})
	t.must(err, "patch")
	t.equal("annotation", patched.Annotations["note"], "x")
	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{}), "delete")
	held, err := client.Get(ctx, "one", metav1.GetOptions{})
	t.must(err, "get while a finalizer holds it")
	t.that(held.DeletionTimestamp != nil, "it is being deleted")
	_, err = client.Patch(ctx, "one", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	t.must(err, "remove the finalizer")
	_, err = client.Get(ctx, "one", metav1.GetOptions{})
	t.refused("reading what is gone", err, apierrors.IsNotFound)
}

func metadataCustomResource(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "lakes", "Lake")
	_, err := c.dynamic.Resource(resource).Namespace(c.namespace).Create(ctx, custom(resource, "Lake", "one", object{}), metav1.CreateOptions{})
	t.must(err, "create")
	list, err := c.metadata.Resource(resource).List(ctx, metav1.ListOptions{})
	t.must(err, "list in all namespaces")
	t.equal("items", len(list.Items), 1)
	t.equal("name", list.Items[0].Name, "one")
	t.equal("namespace", list.Items[0].Namespace, c.namespace)
}
