import { type Address, parseAddress } from '@assay/protocol/address'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { runCrawler } from './crawl/run-crawler.ts'
import { changeWallet } from './register/change-wallet.ts'
import { describeSource } from './register/describe-source.ts'
import { registerSource } from './register/register-source.ts'
import { recheckSources } from './register/settle-contests.ts'
import { claimOfWallet, proveWallet, verifySource } from './register/verify-source.ts'
import { aggregateCitations } from './score/aggregate-citations.ts'
import { scoreSources } from './score/score-sources.ts'
import { useSourceWorld } from './sources.fixture.ts'

const world = await useSourceWorld()

const day = 86_400_000
let count = 0
const newDomain = () => {
  count += 1
  return `site-${count}.com`
}
const newAccount = () => privateKeyToAccount(generatePrivateKey())
const walletOf = (account: { address: string }) =>
  parseAddress(account.address) ?? '0x0000000000000000000000000000000000000000'

// biome-ignore lint/suspicious/noExplicitAny: the view is checked member by member
type View = any

async function claimed(domain: string, account = newAccount()) {
  const wallet = walletOf(account)
  await registerSource(world.deps, { domain, wallet })
  return { account, wallet, view: (await describeSource(world.deps, domain, wallet)) as View }
}
const stateOf = async (domain: string) => ((await describeSource(world.deps, domain)) as View).state
const look = async (domain: string, wallet?: Address) => {
  await verifySource(world.deps, domain)
  return (await describeSource(world.deps, domain, wallet)) as View
}
const publishDns = (domain: string, values: readonly string[]) => {
  for (const zone of world.txt) zone.set(`_citemarket.${domain}`, [...values])
}
const publishFile = (view: View) =>
  world.web.set(view.claim.prove.file.url, JSON.stringify(view.claim.prove.file.content))

test('registering is idempotent, and each claimant gets its own values until the domain is proven', async () => {
  const domain = newDomain()
  const first = await claimed(domain)
  const again = await claimed(domain, first.account)
  const other = await claimed(domain)
  expect(again.view.claim.prove).toEqual(first.view.claim.prove)
  expect(other.view.claim.prove).not.toEqual(first.view.claim.prove)
  expect(await stateOf(domain)).toBe('registered')
  expect((await look(domain, first.wallet)).state).toBe('proving')
})

test('DNS proves when both resolvers see the record, and says so when only one does', async () => {
  const domain = newDomain()
  const { view, wallet } = await claimed(domain)
  world.txt[0].set(`_citemarket.${domain}`, [view.claim.prove.dns.value])
  const half = await look(domain, wallet)
  expect(half.state).toBe('proving')
  expect(half.next_steps[0].fix).toMatch(/Only some resolvers/)
  publishDns(domain, ['v=spf1 -all', view.claim.prove.dns.value])
  expect(await look(domain, wallet)).toMatchObject({
    state: 'proven',
    proof: { method: 'dns', evidence: { resolvers: ['resolver-0', 'resolver-1'] } },
    payout: { state: 'awaiting_wallet_signature' },
  })
})

test('file and meta tag prove; a token of another claim, another wallet or an expired token does not', async () => {
  const domain = newDomain()
  const { view, wallet, account } = await claimed(domain)
  const stranger = await claimed(domain)
  const content = view.claim.prove.file.content
  world.web.set(
    view.claim.prove.file.url,
    JSON.stringify({
      ...content,
      claims: [{ ...content.claims[0], pay: stranger.view.claim.prove.file.content.claims[0].pay }],
    }),
  )
  expect((await look(domain, wallet)).next_steps[0].fix).toMatch(/payout address/)
  world.web.set(view.claim.prove.file.url, JSON.stringify({ ...content, domain: 'elsewhere.com' }))
  expect((await look(domain, wallet)).next_steps[0].fix).toMatch(/another domain/)
  world.advance(2 * day)
  publishFile(view)
  expect((await look(domain, wallet)).claim.report.notes.file).toMatch(/expire/)
  const renewed = (await claimed(domain, account)).view
  expect(renewed.claim.prove).not.toEqual(view.claim.prove)
  world.web.set(`https://${domain}/`, `<html><head>${renewed.claim.prove.meta.html}</head><body></body></html>`)
  expect(await look(domain, wallet)).toMatchObject({ state: 'proven', proof: { method: 'meta' } })
})

test('the wallet signature of the right wallet over the right claim opens payouts, any other is refused', async () => {
  const domain = newDomain()
  const { view, account, wallet } = await claimed(domain)
  publishDns(domain, [view.claim.prove.dns.value])
  await look(domain)
  const claim = await claimOfWallet(world.deps, domain, walletOf(account))
  if (!claim) throw new Error('no claim')
  await expect(
    proveWallet(world.deps, claim, await newAccount().signTypedData(view.claim.wallet_statement)),
  ).rejects.toMatchObject({ code: 'proof_invalid' })
  await proveWallet(world.deps, claim, await account.signTypedData(view.claim.wallet_statement))
  expect((await look(domain, wallet)).payout).toEqual({ state: 'active', wallet: account.address })
})

test('a proof that is gone for three weekly looks holds payouts and closes the gate; publishing it again repairs both', async () => {
  const domain = newDomain()
  const { view } = await claimed(domain)
  publishDns(domain, [view.claim.prove.dns.value])
  await look(domain)
  publishDns(domain, [])
  for (let week = 1; week <= 3; week += 1) {
    expect(await stateOf(domain)).toBe('proven')
    world.advance(8 * day)
    await recheckSources(world.deps)
  }
  expect(await stateOf(domain)).toBe('held')
  while ((await scoreSources(world.deps)) > 0);
  expect((await describeSource(world.deps, domain)) as View).toMatchObject({
    cite_score: 0,
    payout: { state: 'held' },
    score: { gate: { value: 0 } },
  })
  publishDns(domain, [view.claim.prove.dns.value])
  expect((await look(domain)).state).toBe('proven')
  await scoreSources(world.deps)
  expect(((await describeSource(world.deps, domain)) as View).cite_score).toBeGreaterThan(0)
})

test('when our own resolvers are silent nobody has failed', async () => {
  const domain = newDomain()
  const { view } = await claimed(domain)
  publishDns(domain, [view.claim.prove.dns.value])
  await look(domain)
  world.dnsDown = true
  for (let week = 0; week < 5; week += 1) {
    world.advance(8 * day)
    await recheckSources(world.deps)
  }
  world.dnsDown = false
  expect(await stateOf(domain)).toBe('proven')
})

test('a second proof opens a dispute with half the score, and the newest DNS proof wins after the notice', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishFile(holder.view)
  await look(domain)
  const rival = await claimed(domain)
  publishDns(domain, [rival.view.claim.prove.dns.value])
  const disputed = await look(domain, rival.wallet)
  expect(disputed).toMatchObject({
    state: 'disputed',
    payout: { state: 'held', wallet: holder.account.address },
    claim: { state: 'waiting' },
  })
  await scoreSources(world.deps)
  expect(((await describeSource(world.deps, domain)) as View).score.gate.value).toBe(0.5)
  world.advance(6 * day)
  await recheckSources(world.deps)
  expect(await stateOf(domain)).toBe('disputed')
  world.advance(2 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain)) as View).toMatchObject({
    state: 'proven',
    proof: { method: 'dns' },
    payout: { wallet: rival.account.address },
    disputes: [{ state: 'upheld' }],
  })
})

test('a rival without DNS does not win against a holder whose proof is still published', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishFile(holder.view)
  await look(domain)
  const rival = await claimed(domain)
  const content = holder.view.claim.prove.file.content
  const both = [...content.claims, ...rival.view.claim.prove.file.content.claims]
  world.web.set(holder.view.claim.prove.file.url, JSON.stringify({ ...content, claims: both }))
  expect((await look(domain)).state).toBe('disputed')
  world.advance(8 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain, rival.wallet)) as View).toMatchObject({
    state: 'proven',
    payout: { wallet: holder.account.address },
    claim: { state: 'open' },
    disputes: [{ state: 'rejected' }],
  })
})

test('a wallet change with the consent of the paid wallet takes a new proof and three days, and is no dispute', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value])
  await look(domain)
  const next = newAccount()
  await expect(
    changeWallet(world.deps, { domain, wallet: walletOf(next), signedBy: walletOf(next) }),
  ).rejects.toMatchObject({ code: 'forbidden' })
  const wallet = walletOf(next)
  await changeWallet(world.deps, { domain, wallet: walletOf(next), signedBy: walletOf(holder.account) })
  const view = (await describeSource(world.deps, domain, wallet)) as View
  publishDns(domain, [holder.view.claim.prove.dns.value, view.claim.prove.dns.value])
  expect(await look(domain, wallet)).toMatchObject({
    state: 'proven',
    claim: { state: 'waiting' },
    payout: { wallet: holder.account.address },
  })
  world.advance(4 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain)) as View).toMatchObject({
    state: 'proven',
    payout: { state: 'awaiting_wallet_signature', wallet: next.address },
  })
})

test('a wallet that agreed to a change of wallet no longer contests it, though its own proof is the stronger one', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value])
  await look(domain)
  const next = newAccount()
  const wallet = walletOf(next)
  await changeWallet(world.deps, { domain, wallet: walletOf(next), signedBy: walletOf(holder.account) })
  publishFile((await describeSource(world.deps, domain, wallet)) as View)
  await look(domain)
  world.advance(4 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain)) as View).toMatchObject({
    state: 'proven',
    payout: { wallet: next.address },
  })
})

test('without consent a new wallet of a proven domain is a dispute with notice, and the delay is the longer one', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value])
  await look(domain)
  const next = newAccount()
  const wallet = walletOf(next)
  await changeWallet(world.deps, { domain, wallet: walletOf(next), signedBy: undefined })
  const view = (await describeSource(world.deps, domain, wallet)) as View
  publishDns(domain, [holder.view.claim.prove.dns.value, view.claim.prove.dns.value])
  expect((await look(domain)).state).toBe('disputed')
  world.advance(4 * day)
  await recheckSources(world.deps)
  expect(await stateOf(domain)).toBe('disputed')
  world.advance(4 * day)
  await recheckSources(world.deps)
  expect(((await describeSource(world.deps, domain)) as View).payout.wallet).toBe(next.address)
})

test('a contest that ends leaves another one pending', async () => {
  const domain = newDomain()
  const holder = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value])
  await look(domain)
  const early = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value, early.view.claim.prove.dns.value])
  await look(domain)
  world.advance(5 * day)
  const late = await claimed(domain)
  publishDns(domain, [holder.view.claim.prove.dns.value, late.view.claim.prove.dns.value])
  await look(domain)
  world.advance(3 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain, early.wallet)) as View).toMatchObject({
    state: 'disputed',
    claim: { state: 'open' },
  })
  world.advance(5 * day)
  await recheckSources(world.deps)
  expect((await describeSource(world.deps, domain)) as View).toMatchObject({
    state: 'proven',
    payout: { wallet: late.account.address },
  })
})

test('a site that shows its proof only at every other look never gains from it, and never loses all at once', async () => {
  const domain = newDomain()
  const { view } = await claimed(domain)
  publishDns(domain, [view.claim.prove.dns.value])
  expect((await look(domain)).state).toBe('proven')
  for (let week = 0; week < 8; week += 1) {
    publishDns(domain, week % 2 === 0 ? [] : [view.claim.prove.dns.value])
    world.advance(8 * day)
    await recheckSources(world.deps)
    expect(await stateOf(domain)).toBe('proven')
  }
  // Gone for good, it is held after the third look.
  publishDns(domain, [])
  for (let look = 0; look < 3; look += 1) {
    world.advance(8 * day)
    await recheckSources(world.deps)
  }
  expect(await stateOf(domain)).toBe('held')
})

test('a crowd of claims does not push out an honest one whose token is fresh', async () => {
  const domain = newDomain()
  const honest = await claimed(domain)
  for (let n = 1; n <= 150; n += 1)
    await registerSource(world.deps, { domain, wallet: `0x${n.toString(16).padStart(40, '0')}` })
  publishDns(domain, [honest.view.claim.prove.dns.value])
  expect((await look(domain, honest.wallet)).claim.state).toBe('proven')
})

test('two verifiers at once make one holder', async () => {
  const domain = newDomain()
  const one = await claimed(domain)
  const two = await claimed(domain)
  publishDns(domain, [one.view.claim.prove.dns.value, two.view.claim.prove.dns.value])
  await Promise.all(Array.from({ length: 6 }, () => verifySource(world.deps, domain)))
  const { rows } = await world.db.database.query<{ state: string }>(
    'select state from source_claim where domain = $1 order by state',
    [domain],
  )
  expect(rows.map((row) => row.state)).toEqual(['proven', 'waiting'])
})

test('an unreachable, forbidding or failing site has a clear state and advice, and a score from priors', async () => {
  const domain = newDomain()
  await claimed(domain)
  world.web.set(`https://${domain}/robots.txt`, 'down')
  await runCrawler(world.deps, { forMs: 5_000 })
  while ((await scoreSources(world.deps)) > 0);
  const down = (await describeSource(world.deps, domain)) as View
  expect(down.next_steps[2]).toMatchObject({
    step: 'be_crawled',
    state: 'missing',
    fix: expect.stringContaining('cannot be read'),
  })
  expect(down.score.components.every((part: View) => part.known < 0.5)).toBe(true)
  expect(down.confidence).toBeLessThan(0.1)
  const forbidding = newDomain()
  await claimed(forbidding)
  world.web.set(`https://${forbidding}/robots.txt`, 500)
  world.web.set(`https://${forbidding}/`, '<p>never read</p>')
  await runCrawler(world.deps, { forMs: 5_000 })
  expect(((await describeSource(world.deps, forbidding)) as View).crawl.pages_indexed).toBe(0)
})

test('score rows are chained and cannot be changed', async () => {
  const { rows } = await world.db.database.query<{ domain: string; seq: number; jws: string }>(
    'select domain, seq, jws from source_score order by domain, seq',
  )
  expect(rows.length).toBeGreaterThan(3)
  await expect(world.db.owner.query('update source_score set score = 100')).rejects.toMatchObject({ code: '42501' })
  await expect(world.db.database.query('delete from source_score')).rejects.toMatchObject({ code: '42501' })
})

test('what an owner cited of its own pages before the proof stops counting with the proof, not later', async () => {
  const domain = newDomain()
  const { view, wallet } = await claimed(domain)
  const other = walletOf(newAccount())
  for (const agent of [wallet, other])
    await world.db.database.query(
      'insert into citing_agent (agent, cluster, weight, first_seen_at) values ($1, $1, 1, now())',
      [agent],
    )
  const citations = [wallet, other].map((agent) => ({ agent, source: domain }))
  await aggregateCitations(world.deps, citations)
  const trust = async () =>
    (await world.db.database.query<{ mass: number }>('select mass from source_trust where domain = $1', [domain]))
      .rows[0]?.mass
  expect(await trust()).toBeCloseTo(2, 9)
  await world.db.database.query(
    `insert into attestation (id, kind, payment_id, network, agent, payer, source_url, domain, registrable, signature, attester,
       price_micro, created_at)
     values ('att_before_proof', 'citation', 'pay_before_proof', 'eip155:8453', $1, $1, 'http://a.test/', $2, $2, decode(repeat('00', 65), 'hex'), '', 5000, now())`,
    [wallet, domain],
  )
  publishFile(view)
  expect((await look(domain, wallet)).state).toBe('proven')
  expect(await trust()).toBeCloseTo(1, 9)
  const { rows } = await world.db.database.query(`select wash from attestation where id = 'att_before_proof'`)
  expect(rows).toEqual([{ wash: ['payer_is_creator'] }])
})
