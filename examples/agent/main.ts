// An agent that spends somebody else's money within limits: it checks a token, finds a source for a claim, cites it, and is
// stopped where the mandate ends. Any MCP client does; nothing here is of a particular model.
//
//   npm start                                  (in another terminal)
//   node --import tsx examples/agent/main.ts   (or with the address of another demo node)
import { createAssayClient, createMandate, readDemo } from '@assay/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

const node = process.argv[2] ?? 'http://127.0.0.1:4020'
const agentKey = generatePrivateKey()
const agent = privateKeyToAccount(agentKey)

const { mandate, owner } = await signAgentMandate()
console.log(`mandate ${mandate}: at most 0.03 USD a call and 0.05 USD in all`)

const client = new Client({ name: 'example-agent', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: 'npx',
    args: ['assay', 'mcp', '--url', node, '--mandate', mandate, '--key-env', 'AGENT_KEY', '--max-amount', '1'],
    env: { ...(process.env as Record<string, string>), AGENT_KEY: agentKey },
    stderr: 'ignore',
  }),
)

// 1. Check a token, free.
const { demo } = (await (await fetch(node)).json()) as { demo: { tokens: { address: string }[] } }
const token = demo.tokens[0]?.address
const check = await call('tokens_check', { address: token })
console.log(`token ${token}: ${check.verdict}. ${check.summary}`)

// 2. Find a source and cite it. The owner pays, so the citation is the owner's; the creator gets nine tenths.
const match = await call('citations_match', { query: 'short squeeze' })
const [page] = match.data as { url: string; title: string }[]
console.log(`source: ${page?.title}, ${page?.url}`)
const cited = await call('cite_attest', {
  source_url: page?.url,
  agent_wallet: owner,
  query_id: match.query_id,
})
console.log(`cited: ${cited.url}`)

// 3. What costs more than the mandate allows is refused by the node, whatever the agent asks for.
const dear = await client.callTool({ name: 'matrix_vip', arguments: { feed: 'squeeze' } })
console.log(dear.isError ? `refused: ${textOf(dear)}` : 'the mandate did not hold')
await client.close()
process.exit(dear.isError ? 0 : 1)

async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: input })
  if (result.isError) throw new Error(`${name}: ${textOf(result)}`)
  return result.structuredContent as Record<string, unknown>
}

function textOf(result: Awaited<ReturnType<typeof client.callTool>>): string {
  const [first] = result.content as { type: string; text?: string }[]
  return first?.text ?? ''
}

/** What the owner of the money does, once: pays in, and signs how much of it the agent may spend on what. */
async function signAgentMandate(): Promise<{ mandate: string; owner: string }> {
  const { accounts, networks } = await readDemo(node)
  const key = accounts.find(({ role }) => role === 'buyer')?.privateKey
  if (key === undefined) throw new Error(`${node} is no demo node`)
  const owner = privateKeyToAccount(key)
  const buyer = createAssayClient({ account: owner, networks, baseUrl: node, maxPerCallUsd: '1' })
  await buyer.fetch(`${node}/v1/credit/topup?usd=1`)
  const { id: mandate } = await createMandate(buyer, owner, {
    node,
    delegate: agent.address,
    routes: ['*'],
    maxPerCallUsd: '0.03',
    maxPerDayUsd: '0.05',
    maxTotalUsd: '0.05',
    expiresAt: new Date(Date.now() + 3_600_000),
  })
  return { mandate, owner: owner.address }
}
