// Checks the template against AWS's schemas and rules, and tests the step embedded in it.
const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const test = require("node:test");
const { RegoEngine, TemplateFile } = require("@aws/cloudformation-validate");

const file = path.join(__dirname, "guidon.yaml");
const template = fs.readFileSync(file, "utf8");

// The validator uses the defaults, even for resources that a condition excludes.
const parameterOverrides = {
  SubnetIds: "subnet-0123456789abcdef0,subnet-0123456789abcdef1",
  SecurityGroupIds: "sg-0123456789abcdef0",
  AlarmTopicArn: "arn:aws:sns:eu-north-1:123456789012:alarms",
  SecretsKmsKeyArn: "arn:aws:kms:eu-north-1:123456789012:key/01234567-89ab-cdef-0123-456789abcdef",
  DatabaseSecretArn: "arn:aws:secretsmanager:eu-north-1:123456789012:secret:guidon-AbCdEf",
  SignInSecretArn: "arn:aws:secretsmanager:eu-north-1:123456789012:secret:guidon-sign-in-AbCdEf", PublicUrl: "https://flags.example",
  CodeBucket: "packages", CodeKey: "guidon/v1.2.3.zip",
};

// problems returns the errors that prevent the template in the file from being deployed.
function problems(name) {
  const engine = new RegoEngine();
  try {
    return engine.validateStandard(new TemplateFile(name), { parameterOverrides }).diagnostics
      .filter((d) => d.severity === "FATAL" || d.severity === "ERROR")
      .map((d) => `${d.ruleId} ${d.entity?.logicalId}: ${d.message}`);
  } finally {
    engine.free();
  }
}

test("the template is valid", () => assert.deepEqual(problems(file), []));

// Makes sure that the validator finds errors.
test("broken copies are invalid", async (t) => {
  const mistakes = {
    "an unknown property": ["MemorySize: 256", "Memory: 256"],
    "a value out of range": ["MemorySize: 256", "MemorySize: 64"],
    "a runtime that no longer exists": ["provided.al2023", "provided"],
    "a reference to an unknown resource": ["!GetAtt MigrationRole.Arn", "!GetAtt MigrateRole.Arn"],
    "an unknown attribute": ["!GetAtt Url.FunctionUrl", "!GetAtt Url.Address"],
    "an API that needs the function, which needs its URL": ["Name: !Ref AWS::StackName", "Name: !Ref Function"],
    "an unknown condition": ["Condition: HasPublicUrl", "Condition: IsPublic"],
  };
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "guidon-template-"));
  t.after(() => fs.rmSync(folder, { recursive: true }));
  for (const [what, [right, wrong]] of Object.entries(mistakes)) {
    await t.test(what, () => {
      assert.ok(template.includes(right));
      const copy = path.join(folder, "broken.yaml");
      fs.writeFileSync(copy, template.replaceAll(right, wrong));
      assert.notDeepEqual(problems(copy), []);
    });
  }
});

// Only network interfaces need the resource "*", and only a public URL allows every principal.
test("the privileges are minimal", () => {
  assert.equal(template.match(/Resource: "\*"/g).length, 1);
  assert.match(template, /ec2:UnassignPrivateIpAddresses\n +Resource: "\*"/);
  assert.doesNotMatch(template, /Action:.*\*/);
  const forAll = template.split(/^ {2}(?=\w)/m).filter((resource) => resource.includes('Principal: "*"'));
  assert.deepEqual(forAll.map((resource) => resource.split(":")[0]), ["UrlPermission", "UrlInvokePermission"]);
});

// Both read the same guidon.yml, which is invalid without what it refers to.
test("the function and the migration can load a configuration for signing in", () => {
  const resource = (name) => template.split(/^ {2}(?=\w)/m).find((r) => r.startsWith(`${name}:\n`));
  for (const name of ["Function", "MigrationFunction"]) {
    assert.match(resource(name), /GUIDON_SERVER_PUBLIC_URL: !If \[HasPublicAddress, !Ref PublicUrl, !GetAtt Api.ApiEndpoint\]/);
  }
  for (const name of ["FunctionRole", "MigrationRole"]) assert.match(resource(name), /ManagedPolicyArns: \[!Ref DatabasePolicy\]/);
  assert.match(resource("DatabasePolicy"), /Resource: !Ref SignInSecretArn/);
});

// A new account has ten concurrent executions, none of which may be reserved.
test("no concurrency is reserved by default", () => {
  assert.match(template, /^ {2}MaxConcurrency:\n {4}Type: Number\n {4}Default: 0\n/m);
  assert.match(template, /ReservedConcurrentExecutions: !If \[HasMaxConcurrency, !Ref MaxConcurrency, !Ref AWS::NoValue\]/);
});

test("the public URL is one to which paths can be appended", () => {
  const pattern = new RegExp(`^(?:${template.match(/PublicUrl:\n(?: {4}.*\n)*? {4}AllowedPattern: "(.*)"/)[1]})$`);
  for (const url of ["", "https://flags.example", "https://flags.example:8443/base"]) assert.match(url, pattern);
  for (const url of ["http://flags.example", "https://flags.example/", "https://flags.example/base/", "https://flags.example?x", "flags.example"]) {
    assert.doesNotMatch(url, pattern);
  }
});

test("all variables are documented", () => {
  const reference = fs.readFileSync(path.join(__dirname, "../../docs/configuration.md"), "utf8");
  const variables = [...template.matchAll(/^ +(GUIDON_[A-Z_]+):/gm)].map((m) => m[1]);
  assert.ok(variables.length > 5);
  assert.deepEqual(variables.filter((v) => !reference.includes(`\`${v}\``)), []);
});

const source = fs.readFileSync(path.join(__dirname, "migrate.js"), "utf8");

test("the template contains the step", () => {
  const lines = source.split("\n").slice(0, -1).map((line) => " ".repeat(10) + line + "\n");
  assert.ok(template.includes("        ZipFile: |\n" + lines.join("")));
  assert.ok(source.length <= 4096, "CloudFormation allows at most 4096 bytes inline");
});

// step runs the step for an event with a fake of Lambda. It returns the response sent to
// CloudFormation and the invocations.
async function step(requestType, result) {
  const invoked = [];
  class InvokeCommand { constructor(input) { invoked.push(input); } }
  class LambdaClient {
    async send() {
      if (result instanceof Error) throw result;
      return result;
    }
  }
  let sent;
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    sent = { method: request.method, type: request.headers["content-type"], ...JSON.parse(body) };
    response.end();
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    const module = { exports: {} };
    new Function("require", "exports", "console", source)(() => ({ LambdaClient, InvokeCommand }), module.exports, { log() {} });
    await module.exports.handler({
      RequestType: requestType, ResponseURL: `http://127.0.0.1:${server.address().port}/`,
      StackId: "stack", RequestId: "request", LogicalResourceId: "Migration", PhysicalResourceId: "migration",
      ResourceProperties: { FunctionName: "migrates" },
    });
  } finally {
    server.close();
  }
  return { sent, invoked };
}

test("the step migrates", async () => {
  for (const type of ["Create", "Update"]) {
    const { sent, invoked } = await step(type, { Payload: Buffer.from('{"applied":[]}') });
    assert.deepEqual(invoked, [{ FunctionName: "migrates", Payload: '{"guidon":"migrate"}' }]);
    assert.deepEqual(sent, {
      method: "PUT", type: "", Status: "SUCCESS", PhysicalResourceId: "migration",
      StackId: "stack", RequestId: "request", LogicalResourceId: "Migration",
    });
  }
});

test("the step reports a failed migration", async () => {
  const failed = await step("Update", { FunctionError: "Unhandled", Payload: Buffer.from('{"errorMessage":"no database"}') });
  assert.equal(failed.sent.Status, "FAILED");
  assert.match(failed.sent.Reason, /no database/);
  const denied = await step("Create", new Error("AccessDenied"));
  assert.equal(denied.sent.Status, "FAILED");
  assert.match(denied.sent.Reason, /AccessDenied/);
});

test("deleting the stack does not change the schema", async () => {
  const { sent, invoked } = await step("Delete", new Error("must not be called"));
  assert.equal(sent.Status, "SUCCESS");
  assert.deepEqual(invoked, []);
});
