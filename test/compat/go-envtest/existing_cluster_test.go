// What envtest does with USE_EXISTING_CLUSTER=true, on the real client-go, and then what a suite does: Start takes the
// configuration that KUBECONFIG names, waits for the default namespace, creates the definitions and waits until they are
// served; Stop leaves everything.
package envtest

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const within = 30 * time.Second

type object = map[string]any

var (
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	secrets     = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	shops       = schema.GroupVersionResource{Group: "shop.example.com", Version: "v1", Resource: "shops"}
)

var definition = object{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
	"metadata": object{"name": "shops.shop.example.com"},
	"spec": object{
		"group": "shop.example.com", "scope": "Namespaced",
		"names": object{"plural": "shops", "singular": "shop", "kind": "Shop", "listKind": "ShopList"},
		"versions": []any{object{
			"name": "v1", "served": true, "storage": true,
			"schema": object{"openAPIV3Schema": object{"type": "object"}},
		}},
	},
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("did not happen within %s: %s", within, what)
		}
	}
}

func start(ctx context.Context, t *testing.T) dynamic.Interface {
	t.Helper()
	if strings.ToLower(os.Getenv("USE_EXISTING_CLUSTER")) != "true" {
		t.Fatal("envtest would start executables of its own")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	client := dynamic.NewForConfigOrDie(config)
	until(t, "the default namespace is there", func() bool {
		_, err := client.Resource(namespaces).Get(ctx, "default", metav1.GetOptions{})
		return err == nil
	})
	create(ctx, t, client.Resource(definitions), definition)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the definition is served", func() bool {
		answer, err := httpClient.Get(config.Host + "/apis/shop.example.com/v1")
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return client
}

func create(ctx context.Context, t *testing.T, resource dynamic.ResourceInterface, body object) *unstructured.Unstructured {
	t.Helper()
	created, err := resource.Create(ctx, &unstructured.Unstructured{Object: body}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func TestDependentOfCustomResourceGoes(t *testing.T) {
	ctx := context.Background()
	client := start(ctx, t)
	inDefault := func(of schema.GroupVersionResource) dynamic.ResourceInterface {
		return client.Resource(of).Namespace("default")
	}
	owner := create(ctx, t, inDefault(shops), object{
		"apiVersion": "shop.example.com/v1", "kind": "Shop", "metadata": object{"name": "corner"},
	})
	create(ctx, t, inDefault(secrets), object{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": object{"name": "till", "ownerReferences": []any{object{
			"apiVersion": "shop.example.com/v1", "kind": "Shop", "name": "corner", "uid": string(owner.GetUID()),
		}}},
	})
	if err := inDefault(shops).Delete(ctx, "corner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the dependent goes", func() bool {
		_, err := inDefault(secrets).Get(ctx, "till", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
}

// What stands in the place of AddUser.
func TestImpersonation(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: "dev", Groups: []string{"developers"}}
	reviews := schema.GroupVersionResource{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}
	review := create(context.Background(), t, dynamic.NewForConfigOrDie(config).Resource(reviews), object{
		"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
	})
	name, _, _ := unstructured.NestedString(review.Object, "status", "userInfo", "username")
	if name != "dev" {
		t.Fatalf("this is %q", name)
	}
}
