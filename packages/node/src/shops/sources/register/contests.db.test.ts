import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { scoreSources } from '../score/score-sources.ts'
import { useSourceWorld } from '../sources.fixture.ts'
import { changeWallet } from './change-wallet.ts'
import { listDisputes } from './decide-dispute.ts'
import { describeSource } from './describe-source.ts'
import { recordDispute } from './record-dispute.ts'
import { registerSource } from './register-source.ts'
import { recheckSources } from './settle-contests.ts'
import { verifySource } from './verify-source.ts'

const world = await useSourceWorld()

// biome-ignore lint/suspicious/noExplicitAny: the view is checked member by member
type View = any
const hour = 3_600_000
const day = 24 * hour
let count = 0
const next = () => {
  count += 1
  return count
}
const newDomain = () => `contest-${next()}.com`
const newWallet = () => `0x${next().toString(16).padStart(40, '0')}` as Address
const view = async (domain: string, wallet?: Address): Promise<View> => describeSource(world.deps, domain, wallet)

type Claimant = { domain: string; wallet: Address; prove: View }
async function claimant(domain: string): Promise<Claimant> {
  const wallet = newWallet()
  await registerSource(world.deps, { domain, wallet })
  return { domain, wallet, prove: (await view(domain, wallet)).claim.prove }
}
const dns = (domain: string, ...claimants: Claimant[]) => {
  for (const zone of world.txt)
    zone.set(
      `_citemarket.${domain}`,
      claimants.map(({ prove }) => prove.dns.value),
    )
}
const file = (domain: string, ...claimants: Claimant[]) =>
  world.web.set(
    `https://${domain}/.well-known/citation-market.json`,
    JSON.stringify({ version: 'cm1', domain, claims: claimants.flatMap(({ prove }) => prove.file.content.claims) }),
  )
const meta = (domain: string, ...claimants: Claimant[]) =>
  world.web.set(`https://${domain}/`, `<head>${claimants.map(({ prove }) => prove.meta.html).join('')}</head>`)
const check = async (domain: string, wallet?: Address) => {
  await verifySource(world.deps, domain)
  return view(domain, wallet)
}
const rowsOf = async (domain: string) =>
  (
    await world.db.database.query<{ wallet: string; state: string }>(
      'select wallet, state from source_claim where domain = $1 order by created_at, id',
      [domain],
    )
  ).rows

test('a meta tag seen once froze a file holder for seven days', async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  file(domain, holder)
  await check(domain)
  meta(domain, rival)
  const seen = await check(domain, rival.wallet)
  expect(seen).toMatchObject({ state: 'proven', disputes: [], proof: { method: 'file' } })
  expect(seen.next_steps[0].fix).toMatch(/stronger/)
  expect(await rowsOf(domain)).toEqual([{ wallet: holder.wallet, state: 'proven' }])
  await scoreSources(world.deps, [domain])
  expect((await view(domain)).score.gate.value).toBe(1)
})

test("a contest stayed open for seven days after the newcomer's proof was gone", async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  file(domain, holder)
  await check(domain)
  dns(domain, rival)
  const disputed = await check(domain)
  expect(disputed).toMatchObject({ state: 'disputed', payout: { state: 'held' } })
  expect(disputed.state_reason).toMatch(/without one the earlier claim stays while its proof is found/)
  dns(domain)
  world.advance(2 * hour)
  await recheckSources(world.deps)
  expect(await view(domain)).toMatchObject({ state: 'proven', disputes: [{ state: 'rejected' }] })
  await scoreSources(world.deps, [domain])
  expect((await view(domain)).score.gate.value).toBe(1)
})

test('a contest went on after the newcomer was left with a weaker proof than the holder', async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  file(domain, holder)
  await check(domain)
  dns(domain, rival)
  meta(domain, rival)
  expect((await check(domain)).state).toBe('disputed')
  dns(domain)
  world.advance(2 * hour)
  await recheckSources(world.deps)
  expect((await view(domain)).state).toBe('proven')
})

test('a contest stays open while its proof cannot be looked for', async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  file(domain, holder)
  await check(domain)
  dns(domain, rival)
  await check(domain)
  world.dnsDown = true
  world.advance(2 * hour)
  await recheckSources(world.deps)
  world.dnsDown = false
  expect((await view(domain)).state).toBe('disputed')
})

test('an outage of the resolvers turned a DNS holder into a file holder that a file could contest', async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  dns(domain, holder)
  file(domain, holder, rival)
  await check(domain)
  world.dnsDown = true
  const seen = await check(domain)
  world.dnsDown = false
  expect(seen).toMatchObject({ state: 'proven', proof: { method: 'dns' }, disputes: [] })
})

test('of two first proofs the one published first became the holder, though the other was stronger', async () => {
  const domain = newDomain()
  const [early, owner] = [await claimant(domain), await claimant(domain)]
  meta(domain, early)
  dns(domain, owner)
  expect(await check(domain)).toMatchObject({ state: 'proven', proof: { method: 'dns' } })
  expect((await rowsOf(domain)).map(({ wallet }) => wallet)).toEqual([owner.wallet])
})

test('registrations without proof filled rows until an honest claim was pushed out', async () => {
  const domain = newDomain()
  const honest = await claimant(domain)
  for (let n = 0; n < 30; n += 1) await registerSource(world.deps, { domain, wallet: newWallet() })
  await check(domain)
  expect(await rowsOf(domain)).toEqual([])
  dns(domain, honest)
  expect(await check(domain)).toMatchObject({ state: 'proven' })
  expect(await rowsOf(domain)).toEqual([{ wallet: honest.wallet, state: 'proven' }])
})

test('the values of yesterday prove, those of the day before do not', async () => {
  const domain = newDomain()
  const first = await claimant(domain)
  dns(domain, first)
  world.advance(2 * day)
  const late = await check(domain, first.wallet)
  expect(late).toMatchObject({ state: 'proving', claim: { state: 'open' } })
  expect(late.next_steps[0].fix).toMatch(/not the current one/)
  const fresh: Claimant = { ...first, prove: late.claim.prove }
  dns(domain, fresh)
  world.advance(day)
  expect((await check(domain, first.wallet)).claim).toMatchObject({ state: 'proven', prove: fresh.prove })
})

test('the dispute of the proven owner was refused when strangers had filled the queue', async () => {
  const domain = newDomain()
  const holder = await claimant(domain)
  dns(domain, holder)
  await check(domain)
  await world.db.database.query(
    `insert into source_dispute (id, domain, kind, statement, state, opened_at)
     select 'dsp_crowd_' || n, $1, 'other', 'noise and more noise', 'received', $2 from generate_series(1, 200) n`,
    [domain, new Date(world.deps.clock.nowMs())],
  )
  const input = { domain, kind: 'content' as const, statement: 'This page is not mine.' }
  await expect(recordDispute(world.deps, input)).rejects.toMatchObject({ code: 'rate_limited' })
  await expect(recordDispute(world.deps, { ...input, signedBy: newWallet() })).rejects.toMatchObject({
    code: 'rate_limited',
  })
  const { id } = await recordDispute(world.deps, { ...input, signedBy: holder.wallet })
  expect((await listDisputes(world.db.database, { domain }))[0]?.id).toBe(id)
})

test('a proof that never came back kept its holder, and the next owner had to contest it', async () => {
  const domain = newDomain()
  const holder = await claimant(domain)
  dns(domain, holder)
  await check(domain)
  dns(domain)
  world.advance(8 * day)
  for (let n = 0; n < 40; n += 1) {
    await recheckSources(world.deps)
    world.advance(day + hour)
  }
  expect(await view(domain)).toMatchObject({ state: 'proving', proof: null, payout: { state: 'unproven' } })
  expect(await rowsOf(domain)).toEqual([{ wallet: holder.wallet, state: 'lost' }])
  const owner = await claimant(domain)
  meta(domain, owner)
  expect(await check(domain)).toMatchObject({ state: 'proven', disputes: [] })
})

test('a new owner of the domain, whose predecessor left no proof, holds it after the notice', async () => {
  const domain = newDomain()
  const holder = await claimant(domain)
  dns(domain, holder)
  await check(domain)
  dns(domain)
  const owner = await claimant(domain)
  meta(domain, owner)
  expect(await check(domain)).toMatchObject({ state: 'disputed', payout: { state: 'held' } })
  for (let n = 0; n < 9; n += 1) {
    world.advance(day)
    await recheckSources(world.deps)
  }
  expect(await rowsOf(domain)).toEqual([
    { wallet: holder.wallet, state: 'superseded' },
    { wallet: owner.wallet, state: 'proven' },
  ])
  expect((await view(domain)).state).toBe('proven')
})

test('a weak contest closes as soon as the stronger proof of the holder is back', async () => {
  const domain = newDomain()
  const [holder, rival] = [await claimant(domain), await claimant(domain)]
  dns(domain, holder)
  await check(domain)
  dns(domain)
  meta(domain, rival)
  expect((await check(domain)).state).toBe('disputed')
  dns(domain, holder)
  expect(await check(domain)).toMatchObject({ state: 'proven', disputes: [{ state: 'rejected' }] })
})

test('a wallet was changed with the consent of a holder whose proof was gone', async () => {
  const domain = newDomain()
  const holder = await claimant(domain)
  dns(domain, holder)
  await check(domain)
  dns(domain)
  await expect(
    changeWallet(world.deps, { domain, wallet: newWallet(), signedBy: holder.wallet }),
  ).rejects.toMatchObject({ code: 'source_unproven' })
  dns(domain, holder)
  const wallet = newWallet()
  await changeWallet(world.deps, { domain, wallet, signedBy: holder.wallet })
  expect((await rowsOf(domain)).map(({ state }) => state)).toEqual(['proven'])
})

test('a held source whose site was down kept its score', async () => {
  const domain = newDomain()
  const holder = await claimant(domain)
  file(domain, holder)
  await check(domain)
  world.web.set(`https://${domain}/.well-known/citation-market.json`, 'down')
  for (let n = 0; n < 3; n += 1) {
    world.advance(8 * day)
    await recheckSources(world.deps)
  }
  expect((await view(domain)).state).toBe('held')
  await scoreSources(world.deps, [domain])
  expect((await view(domain)).score.gate.value).toBe(0)
})
