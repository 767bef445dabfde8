package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var webhookChecks = []check{
	{"webhook/as-envtest-installs", webhookAsEnvtestInstalls},
}

// A server of Go's own: its mux answers a path that is not clean with a redirect. The bundle is the serving certificate itself.
func webhookAsEnvtestInstalls(ctx context.Context, t *test, c *cluster) {
	mux := http.NewServeMux()
	mux.HandleFunc("/deny", func(answer http.ResponseWriter, request *http.Request) {
		review := admissionv1.AdmissionReview{}
		if err := json.NewDecoder(request.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(answer, "no review", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID:    review.Request.UID,
			Result: &metav1.Status{Code: http.StatusForbidden, Reason: "Always denied", Message: "Always denied"},
		}
		review.Request = nil
		_ = json.NewEncoder(answer).Encode(review)
	})
	server := httptest.NewTLSServer(mux)
	defer server.Close()
	url := server.URL + "//deny"
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	none := admissionregistrationv1.SideEffectClassNone
	configurations := c.kube.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := configurations.Create(ctx, &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:                    "deny.example.com",
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: bundle},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
			NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": c.namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"secrets"}},
			}},
		}},
	}, metav1.CreateOptions{})
	t.must(err, "install the webhook")
	defer func() { _ = configurations.Delete(ctx, c.namespace, metav1.DeleteOptions{}) }()
	t.eventually(ctx, "the webhook denies", func(ctx context.Context) (bool, error) {
		_, err := c.kube.CoreV1().Secrets(c.namespace).Create(ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "denied-"},
		}, metav1.CreateOptions{})
		if err == nil {
			return false, nil
		}
		t.refused("what the webhook denies", err, apierrors.IsForbidden)
		t.that(strings.HasSuffix(err.Error(), "Always denied"), "the webhook's own words: "+err.Error())
		return true, nil
	})
}
