export { buildRequest, type ToolRequest } from './build-request.ts'
export { describeTools, type Tool } from './describe-tools.ts'
export { encodePayment, problemResult, readAnswer, type ToolResult, toolResult } from './tool-result.ts'
