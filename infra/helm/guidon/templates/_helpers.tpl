{{/* The name of the resources, short enough for suffixes. */}}
{{- define "guidon.name" -}}
{{- ternary .Release.Name (printf "%s-guidon" .Release.Name) (contains "guidon" .Release.Name) | trunc 50 | trimSuffix "-" }}
{{- end }}

{{/* The labels that select the pods of one component: (dict "root" $ "component" "server"). */}}
{{- define "guidon.selector" -}}
app.kubernetes.io/name: guidon
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "guidon.labels" -}}
{{ include "guidon.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | trunc 63 | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "guidon.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The metadata of a pod. */}}
{{- define "guidon.podMetadata" -}}
labels:
  {{- include "guidon.labels" . | nindent 2 }}
  {{- with .root.Values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.podAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The common fields of all pods. */}}
{{- define "guidon.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.serviceAccount }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The common fields of all containers. */}}
{{- define "guidon.container" -}}
image: {{ include "guidon.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{/* The environment of all containers that open the database. */}}
{{- define "guidon.env" -}}
- {name: GUIDON_LOG_ENCODING, value: json}
- {name: GUIDON_DB_URL_FILE, value: /etc/guidon/secrets/GUIDON_DB_URL}
{{- range $variable, $_ := .Values.secrets }}
- {name: {{ $variable }}_FILE, value: /etc/guidon/secrets/{{ $variable }}}
{{- end }}
{{- end }}

{{- define "guidon.mounts" -}}
- {name: config, mountPath: /etc/guidon/config, readOnly: true}
- {name: secrets, mountPath: /etc/guidon/secrets, readOnly: true}
{{- end }}

{{/* The volumes for guidon.mounts: (dict "root" $ "config" "name of the ConfigMap"). */}}
{{- define "guidon.volumes" -}}
- name: config
  configMap: {name: {{ .config }}}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret:
          name: {{ .root.Values.database.secret }}
          items: [{key: {{ .root.Values.database.key }}, path: GUIDON_DB_URL}]
      {{- range $variable, $from := .root.Values.secrets }}
      - secret:
          name: {{ $from.secret }}
          items: [{key: {{ $from.key }}, path: {{ $variable }}}]
      {{- end }}
{{- end }}

{{/* The configuration file. */}}
{{- define "guidon.config" -}}
default.yml: |
  version: "1.0"
  {{- with .Values.config }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The host of config.server.public_url, at which an Ingress or a Gateway serves HTTP. */}}
{{- define "guidon.publicHost" -}}
{{- $url := urlParse (dig "server" "public_url" "" .Values.config) }}
{{- if or (not $url.hostname) $url.path }}
{{- fail "ingress and gateway require config.server.public_url, the URL of their host without a path, such as https://flags.example" }}
{{- end }}
{{- if or (eq $url.hostname .Values.ingress.grpc.host) (eq $url.hostname .Values.gateway.grpc.host) }}
{{- fail "ingress.grpc.host and gateway.grpc.host must differ from the host of config.server.public_url, which serves HTTP" }}
{{- end }}
{{- $url.hostname }}
{{- end }}
