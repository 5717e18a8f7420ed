import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCli } from '../packages/cli/src/run-cli.ts'
import { createTestTerminal } from '../packages/cli/src/terminal.fixture.ts'
import { roles, tokenAbi } from '../packages/node/src/shops/tokens/abi/b20.ts'
import type { Address } from '../packages/protocol/src/address.ts'
import { parseTokenReport, verifyTokenReport } from '../packages/sdk/src/index.ts'
import { demoIssuer } from '../packages/till/src/devnet/index.ts'
import { type Clock, systemClock } from '../packages/till/src/kernel/clock.ts'
import { postJson } from './harness/post-json.ts'
import { buy, openTill } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'

type DemoToken = { key: string; address: string; what: string; synthetic: boolean }

let tokens: Map<string, DemoToken>
const url = (path: string) => `${till.node.url}${path}`
const get = async (path: string, init?: RequestInit) => {
  const response = await fetch(url(path), init)
  return { response, body: (await response.json()) as Record<string, unknown> }
}
const address = (key: string) => tokens.get(key)?.address as string

let aheadMs = 0
const clock: Clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }
/** Answers share a block for a second. */
const endSharedBlock = () => {
  aheadMs += 1_100
}

const till = useTill({ ownShops: ['account', 'sandbox', 'tokens'], clock })
beforeAll(async () => {
  const { body } = await get('/')
  const demo = body.demo as unknown as { tokens: DemoToken[] }
  tokens = new Map(demo.tokens.map((token) => [token.key, token]))
})

describe('the free check', () => {
  test('a newcomer sees at least eight demo tokens and every verdict', async () => {
    expect(tokens.size).toBeGreaterThanOrEqual(8)
    const verdicts = new Set<unknown>()
    for (const token of tokens.values()) {
      const { response, body } = await get(`/v1/check/${token.address}`)
      expect(response.status, token.key).toBe(200)
      expect(body.synthetic).toBe(true)
      expect(token.what.split(':')[0]).toBe(body.verdict)
      expect(Object.keys(body.powers as object)).toHaveLength(10)
      verdicts.add(body.verdict)
    }
    expect([...verdicts].sort()).toEqual(['ISSUER_CONTROLLED', 'LOCKED', 'PARTIALLY_CONTROLLED', 'UNKNOWN'])
  })

  test('says where it was read, how completely, and where the report is', async () => {
    const { body } = await get(`/v1/check/${address('locked')}`)
    expect(body.complete).toBe(true)
    expect(body.block).toMatchObject({ hash: expect.stringMatching(/^0x[0-9a-f]{64}$/) })
    expect(body.report).toEqual({ url: url(`/v1/report/${address('locked')}`), price_usd: '0.02' })
    expect(body.completeness).toMatchObject({ complete: true, admin_set: 'proven', missing: [] })
  })

  test('400 for a malformed address, 404 with a reason for what is no token', async () => {
    expect((await get('/v1/check/0x12')).response.status).toBe(400)
    const usdc = await get(`/v1/check/${till.base.usdc}`)
    expect([usdc.response.status, usdc.body.reason]).toEqual([404, 'not_b20_prefix'])
    const never = await get(`/v1/check/0xb200000000000000000000${'1'.repeat(18)}`)
    expect([never.response.status, never.body.reason]).toEqual([404, 'b20_address_not_created'])
    for (const registry of ['0xB20f000000000000000000000000000000000000', '0x8453000000000000000000000000000000000002'])
      expect((await get(`/v1/check/${registry}`)).body.reason).toBe('not_b20_prefix')
  })

  test('503 with Retry-After when the chain cannot be read, never a verdict', async () => {
    till.base.control.failNext('*', { times: 1_000_000, error: { message: 'down' } })
    try {
      endSharedBlock()
      const { response, body } = await get(`/v1/check/${address('pauser')}?wallet=${till.base.usdc}`)
      expect(response.status).toBe(503)
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(body.verdict).toBeUndefined()
    } finally {
      till.base.control.clearFaults()
    }
  })

  test('a batch answers in order, with the problem where there is no answer', async () => {
    const addresses = [address('locked'), till.base.usdc, address('mintable')]
    const { body } = await get('/v1/check/batch', postJson({ addresses }))
    const data = body.data as unknown as { verdict?: string; block?: object; problem?: { reason: string } }[]
    for (const one of data) if (one.block !== undefined) expect(one.block).toEqual(body.block)
    expect(data.map((one) => one.verdict ?? one.problem?.reason)).toEqual([
      'LOCKED',
      'not_b20_prefix',
      'PARTIALLY_CONTROLLED',
    ])
    const tooMany = await get(
      '/v1/check/batch',
      postJson({ addresses: Array.from({ length: 101 }, () => address('locked')) }),
    )
    expect(tooMany.response.status).toBe(400)
  })

  test('a hundred addresses are one call', async () => {
    const all = [...tokens.values()].map((token) => token.address)
    const addresses = Array.from({ length: 100 }, (_, i) => all[i % all.length] as string)
    const { response, body } = await get('/v1/check/batch', postJson({ addresses }))
    expect([response.status, (body.data as unknown as unknown[]).length]).toEqual([200, 100])
  })

  test('the verdict at a past block, and what changed since', async () => {
    const changed = address('stablecoin') as Address
    const before = (await get(`/v1/check/${changed}`)).body.block as unknown as { number: string }
    await grantMetadata(changed, roles.OPERATOR_ROLE)
    await till.base.control.mine(1)
    endSharedBlock()
    const { body: past } = await get(`/v1/check/${changed}?block=${before.number}`)
    expect(past.block).toEqual(before)
    const { response, body: diff } = await get(`/v1/check/${changed}/diff?from=${before.number}`)
    expect(response.status).toBe(200)
    const fields = (diff.changes as unknown as { field: string }[]).map(({ field }) => field)
    expect(fields).toContain('powers.admin.exercised')
    expect((diff.events as unknown as { kind: string }[]).map(({ kind }) => kind)).toContain('role_granted')
    expect((await get(`/v1/check/${changed}?block=999999999`)).response.status).toBe(400)
  })

  test('the badge shows verdict, block and age, and carries a signed statement', async () => {
    const response = await fetch(url(`/v1/badge/${address('locked')}`))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    const image = await response.text()
    expect(image).toMatch(/LOCKED.*block \d+, \d+ s old/)
    const [, payload] = /<metadata>([^<]+)<\/metadata>/.exec(image)?.[1]?.split('.') ?? []
    expect(JSON.parse(Buffer.from(payload ?? '', 'base64url').toString())).toMatchObject({
      type: 'assay-badge',
      verdict: 'LOCKED',
      address: address('locked'),
    })
  })

  test('tells one wallet what it can do and what can be done to it', async () => {
    const { body: index } = await get('/')
    const accounts = (index.demo as unknown as { accounts: { role: string; address: string }[] }).accounts
    const of = (role: string) => accounts.find((account) => account.role === role)?.address
    const view = async (key: string, wallet: string | undefined) =>
      (await get(`/v1/check/${address(key)}?wallet=${wallet}`)).body.wallet as unknown as Record<
        string,
        { answer: string }
      >
    const exempt = await view('seizable', of('buyer'))
    const seizable = await view('seizable', of('affiliate'))
    expect([exempt.send?.answer, exempt.be_seized?.answer, seizable.be_seized?.answer]).toEqual(['yes', 'later', 'yes'])
    expect((seizable.be_seized as unknown as { why: string }).why).toContain('not exempt')
    const frozen = await view('composite', of('affiliate'))
    expect([frozen.send?.answer, frozen.be_frozen?.answer, frozen.receive?.answer]).toEqual(['no', 'yes', 'yes'])
    const free = await view('locked', of('affiliate'))
    expect(Object.values(free).flatMap((one) => one.answer ?? [])).toEqual(['yes', 'yes', 'yes', 'no', 'no'])
  })
})

describe('the paid report', () => {
  test('unpaid is 402 whatever the address; a paid request for no token is not charged', async () => {
    for (const path of ['/v1/report/nonsense', `/v1/report/${till.base.usdc}`, `/v1/report/${address('locked')}`])
      expect((await fetch(url(path))).status).toBe(402)
    const buyer = await till.newBuyer(1_000_000n)
    const balance = () =>
      till.db.database.query<{ n: bigint }>('select count(*) as n from payment where payer = $1 and state = $2', [
        buyer.address.toLowerCase(),
        'served',
      ])
    expect((await buy(buyer, url('/v1/report/nonsense'))).status).toBe(400)
    expect((await buy(buyer, url(`/v1/report/${till.base.usdc}`))).status).toBe(404)
    expect((await buy(buyer, url(`/v1/report/${address('later-variant')}`))).status).toBe(503)
    expect((await balance()).rows[0]?.n).toBe(0n)
  })

  test('is sold as JSON, Markdown, HTML and PDF, with evidence and an attestation', async () => {
    const buyer = await till.newBuyer(1_000_000n)
    const path = url(`/v1/report/${address('seizable')}`)
    const json = await buy(buyer, `${path}?proof=1`)
    expect(json.status).toBe(200)
    const report = (await json.json()) as Record<string, never>
    expect(report).toMatchObject({
      format: 'assay-b20-report',
      verdict: 'ISSUER_CONTROLLED',
      complete: true,
      synthetic: true,
    })
    expect(report.attestation).toMatchObject({
      standard: 'EIP-712',
      signature: expect.stringMatching(/^0x[0-9a-f]{130}$/),
    })
    expect(report.proof).toMatchObject({ token: { storageProof: expect.any(Array) } })
    expect(report.genesis).toMatchObject({ via: 'direct' })
    const markdown = await buy(buyer, path, {}, { headers: { accept: 'text/markdown' } })
    expect(await markdown.text()).toContain('## ISSUER\\_CONTROLLED'.replace('\\', ''))
    const html = await buy(buyer, path, {}, { headers: { accept: 'text/html' } })
    const page = await html.text()
    expect(page).toContain('<svg')
    expect(page).toContain('Synthetic demo data')
    expect(html.headers.get('content-security-policy')).toContain("default-src 'none'")
    const pdf = await buy(buyer, path, {}, { headers: { accept: 'application/pdf' } })
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(
      Buffer.from(await pdf.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-')
  })
})

describe('a report kept as a file', () => {
  test('with proof=1 proves the storage of token and registry against the state root, offline', async () => {
    const buyer = await till.newBuyer(1_000_000n)
    // The money of test buyers appears beside the chain: only blocks after it commit to the state as it is.
    await till.base.control.mine(1)
    endSharedBlock()
    const text = await (await buy(buyer, url(`/v1/report/${address('composite')}?proof=1`))).text()
    type Proofs = { proof: Record<'token' | 'registry', { accountProof: string[]; storageProof: { value: string }[] }> }
    const verified = async (change: (report: Proofs) => void) => {
      const changed = JSON.parse(text)
      change(changed)
      const report = parseTokenReport(changed)
      if (report === undefined) throw new Error('not a report')
      return (await verifyTokenReport(report)).checks.find(({ name }) => name === 'proof')
    }
    expect(await verified(() => {})).toMatchObject({
      status: 'passed',
      detail: expect.stringMatching(/^\d+ storage slots follow/),
    })
    const changes: ((report: Proofs) => void)[] = [
      ({ proof }) => Object.assign(proof.token.storageProof[0] ?? {}, { value: '0x7' }),
      ({ proof }) => Object.assign(proof.registry.storageProof[0] ?? {}, { value: '0x0' }),
      ({ proof }) => proof.registry.accountProof.pop(),
      ({ proof }) => proof.token.storageProof.pop(),
      ({ proof }) => Object.assign(proof, { registry: proof.token }),
      ({ proof }) => Object.assign(proof, { state_root: `0x${'1'.repeat(64)}` }),
      (report) => Object.assign(report, { supply: { total: '1' } }),
    ]
    for (const change of changes) expect(await verified(change)).toMatchObject({ status: 'failed' })
  })

  test('verifies offline after the node is gone, and not after a change', async () => {
    const own = await openTill({ ownShops: ['account', 'sandbox', 'tokens'] })
    const { body } = { body: (await (await fetch(own.node.url)).json()) as { demo: { tokens: DemoToken[] } } }
    const token = body.demo.tokens.find(({ key }) => key === 'mintable')?.address
    const buyer = await own.newBuyer(1_000_000n)
    const text = await (await buy(buyer, `${own.node.url}/v1/report/${token}`)).text()
    const directory = await (await fetch(`${own.node.url}/.well-known/http-message-signatures-directory`)).json()
    await own.close()
    const report = parseTokenReport(JSON.parse(text))
    if (report === undefined) throw new Error('not a report')
    expect((await verifyTokenReport(report)).ok).toBe(true)
    const withKeys = await verifyTokenReport(report, { trustedDirectory: directory })
    expect(withKeys.checks.filter(({ status }) => status === 'passed').map(({ name }) => name)).toEqual([
      'content',
      'statement',
      'signature',
      'attester',
      'keys',
    ])
    for (const change of [{ verdict: 'LOCKED' }, { flags: [] }, { complete: false }])
      expect((await verifyTokenReport({ ...report, ...change })).ok).toBe(false)
    const folder = await mkdtemp(join(tmpdir(), 'assay-report-'))
    await writeFile(join(folder, 'report.json'), text)
    await writeFile(join(folder, 'changed.json'), text.replace('"complete":true', '"complete":false'))
    const terminal = createTestTerminal()
    expect(await runCli(['verify', join(folder, 'report.json')], terminal)).toBe(0)
    expect(await runCli(['verify', join(folder, 'changed.json')], terminal)).toBe(5)
    await rm(folder, { recursive: true })
  })

  test('assay check and assay report work against a node', async () => {
    const terminal = createTestTerminal()
    expect(await runCli(['check', address('pauser'), '--url', till.node.url], terminal)).toBe(0)
    expect(terminal.stdout()).toContain('PARTIALLY_CONTROLLED')
    const several = createTestTerminal()
    expect(await runCli(['check', address('pauser'), address('locked'), '--url', till.node.url], several)).toBe(0)
    expect(several.stdout()).toMatch(/PARTIALLY_CONTROLLED +pause\n.*LOCKED +no power can be used now\nread at block/)
    const held = createTestTerminal()
    await waitForList()
    expect(await runCli(['check', '--holdings', till.base.usdc, '--url', till.node.url], held)).toBe(0)
    expect(held.stdout()).not.toContain('LOCKED')
    const since = createTestTerminal()
    const { body } = await get(`/v1/check/${address('locked')}`)
    const { number } = body.block as unknown as { number: string }
    expect(await runCli(['check', address('locked'), '--since', number, '--url', till.node.url], since)).toBe(0)
    expect(since.stdout()).toContain('no field differs')
    const folder = await mkdtemp(join(tmpdir(), 'assay-report-'))
    const out = join(folder, 'report.json')
    const bought = ['report', address('pauser'), '--url', till.node.url, '--demo', '--out', out]
    expect(await runCli(bought, createTestTerminal())).toBe(0)
    expect(await runCli(['verify', out, '--online'], createTestTerminal())).toBe(0)
    expect(await runCli(['check', '0x12', '--url', till.node.url], createTestTerminal())).toBe(2)
    await rm(folder, { recursive: true })
  })
})

describe('the stream of changes', () => {
  test('lists what changed since a block, each a signed CloudEvent', async () => {
    const { body } = await get(`/v1/tokens/${address('stablecoin')}/changes?since=0`, {
      headers: { accept: 'application/json' },
    })
    const data = body.data as unknown as { type: string; specversion: string; signature: string }[]
    expect(data.length).toBeGreaterThan(5)
    // Also what changed in the lists it follows, of which the token itself says nothing.
    expect(data.map(({ type }) => type)).toContain('assay.b20.policy_listed')
    expect(data.find(({ type }) => type === 'assay.b20.role_granted')).toMatchObject({
      specversion: '1.0',
      signature: expect.stringContaining('.'),
    })
  })

  test('tells a grant as it happens, and refuses a fourth stream and a made-up Last-Event-ID', async () => {
    const path = url(`/v1/tokens/${address('stablecoin')}/changes`)
    const forged = await fetch(path, { headers: { 'last-event-id': 'x' } })
    expect(forged.status).toBe(400)
    const stops = Array.from({ length: 3 }, () => new AbortController())
    const streams = await Promise.all(stops.map(({ signal }) => fetch(path, { signal })))
    expect(streams.map((stream) => stream.status)).toEqual([200, 200, 200])
    expect((await fetch(path)).status).toBe(429)
    await grantMetadata(address('stablecoin') as Address)
    const text = await readUntil(streams[0] as Response, 'role_granted')
    expect(text).toContain('assay.b20.role_granted')
    for (const stop of stops) stop.abort()
  })
})

/** The list comes from a job. */
const waitForList = () =>
  until('every demo token is listed', async () => {
    const { body } = await get('/v1/tokens')
    return (body.data as unknown as unknown[]).length >= tokens.size
  })

async function grantMetadata(token: Address, role = roles.METADATA_ROLE): Promise<void> {
  const issuer = privateKeyToAccount(demoIssuer(8453).privateKey)
  const nonce = Number(await till.base.request('eth_getTransactionCount', [issuer.address, 'pending']))
  const raw = await issuer.signTransaction({
    type: 'eip1559',
    chainId: 8453,
    to: token,
    nonce,
    gas: 300_000n,
    maxFeePerGas: 100_000_000_000n,
    maxPriorityFeePerGas: 1_000_000n,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'grantRole', args: [role, issuer.address] }),
  })
  await till.base.request('eth_sendRawTransaction', [raw])
}

async function readUntil(response: Response, wanted: string): Promise<string> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(wanted)) return text
  }
  return text
}
