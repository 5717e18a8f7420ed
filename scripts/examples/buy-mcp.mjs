// node buy-mcp.mjs <program...>: starts a seller of MCP tools and buys one over its pipes.
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { stockClient } from './stock-client.mjs'

const transport = new StdioClientTransport({ command: process.execPath, args: process.argv.slice(2), stderr: 'pipe' })
const key = new Promise((resolve) => {
  let said = ''
  transport.stderr.on('data', (chunk) => {
    said += chunk
    const [, found] = /test key (0x[0-9a-f]+)/.exec(said) ?? []
    if (found) resolve(found)
  })
})
const client = new Client({ name: 'buyer', version: '1' })
await client.connect(transport, { timeout: 240_000 })
const { tools } = await client.listTools()
const call = { name: tools[0].name, arguments: { city: 'rome' } }
const asked = await client.callTool(call)
const payment = await stockClient(await key).createPaymentPayload(asked.structuredContent)
const result = await client.callTool({ ...call, _meta: { 'x402/payment': payment } })
if (result.isError) throw new Error(JSON.stringify(result))
process.stdout.write(`MCP client: ${JSON.stringify(result.structuredContent)}`)
await client.close()
process.exit()
