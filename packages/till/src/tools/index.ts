export { bindResourceRead, bindToolCall } from './bind-call.ts'
export { buildRequest, type ToolRequest } from './build-request.ts'
export { describeTools, type Tool } from './describe-tools.ts'
export { metaKeys, paymentHeadersOf } from './payment-meta.ts'
export {
  type Answered,
  problemResult,
  readAnswer,
  resultMeta,
  type ToolResult,
  termsOf,
  toolResult,
} from './tool-result.ts'
