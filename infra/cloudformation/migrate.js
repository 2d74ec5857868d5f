// The custom resource Migration: invokes the migration before anything runs the new code.
const {LambdaClient, InvokeCommand} = require("@aws-sdk/client-lambda");
exports.handler = async (event, context) => {
  const answer = {
    Status: "SUCCESS", PhysicalResourceId: event.PhysicalResourceId || "migration",
    StackId: event.StackId, RequestId: event.RequestId, LogicalResourceId: event.LogicalResourceId,
  };
  try {
    if (event.RequestType !== "Delete") {
      const result = await new LambdaClient().send(new InvokeCommand({
        FunctionName: event.ResourceProperties.FunctionName, Payload: '{"guidon":"migrate"}',
      }));
      const text = Buffer.from(result.Payload || "").toString();
      console.log(text);
      if (result.FunctionError) throw new Error(text);
    }
  } catch (error) {
    answer.Status = "FAILED";
    answer.Reason = String(error.message).slice(0, 1000);
  }
  const body = JSON.stringify(answer);
  const response = await fetch(event.ResponseURL, {method: "PUT", headers: {"content-type": ""}, body});
  if (!response.ok) throw new Error(`CloudFormation returned ${response.status}`);
};
