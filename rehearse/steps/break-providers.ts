import { setTimeout as pause } from 'node:timers/promises'
import type { RpcFault } from '../../packages/till/src/chain/rpc-proxy.fixture.ts'
import type { Wallet } from '../operator.ts'
import { expectThat } from '../report.ts'
import { until } from '../until.ts'
import type { World } from '../world.ts'
import { at, brief, type Step } from './step.ts'

const faults: readonly RpcFault[] = [
  { kind: 'hangs' },
  { kind: 'slow', ms: 3_000 },
  { kind: 'lies' },
  { kind: 'rate_limited' },
  { kind: 'wrong_chain' },
  { kind: 'down' },
]
const rounds = 7
/** With and without the fault in turn: what else the machine does for a moment then falls on both. */
const turns = 3
const priceMicro = 1_000n

const echo = (world: World, { key }: Wallet) =>
  world.buy({ key, url: at(`/v1/sandbox/echo?message=${performance.now()}`) })

/** Times of purchases, all of them answered. */
async function purchaseMs(world: World, buyer: Wallet): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const seen = await echo(world, buyer)
    expectThat(seen.status === 200, brief(seen))
    times.push(seen.ms)
  }
  return times
}

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0

export const breakProviders: Step = async (world, report, planted) => {
  report.step('4. provider faults')
  const buyer = await world.newBuyer(100)
  const compare = async (asked: string, breakIt: () => Promise<void>, repair: () => Promise<void>) =>
    report.check(`one of three RPC providers ${asked}: a purchase takes at most twice as long`, async () => {
      const healthy: number[] = []
      const faulty: number[] = []
      for (let turn = 0; turn < turns; turn += 1) {
        healthy.push(...(await purchaseMs(world, buyer)))
        await breakIt()
        faulty.push(...(await purchaseMs(world, buyer).finally(repair)))
      }
      const seen = `median ${median(faulty)} ms, ${median(healthy)} ms without`
      expectThat(median(faulty) <= 2 * median(healthy), seen)
      return seen
    })
  await world.rpcLag(false)
  const repair = () => world.rpcFault('all', { kind: 'none' })
  for (const [index, fault] of faults.entries())
    await compare(fault.kind, () => world.rpcFault(planted === 'rpc' ? 'all' : index % 3, fault), repair)
  await compare(
    'is a block behind',
    () => world.rpcLag(true),
    () => world.rpcLag(false),
  )
  await world.rpcLag(true)
  await report.check(
    'all RPC providers answer for another chain: nobody is turned away as poor, nobody pays',
    async () => {
      const before = await world.balance('base', buyer)
      await world.rpcFault('all', planted === 'rpc' ? { kind: 'lies' } : { kind: 'wrong_chain' })
      await pause(3_000)
      const seen = await echo(world, buyer).finally(repair)
      const spent = before - (await world.balance('base', buyer))
      expectThat(seen.status === 503 && spent === 0n, `${brief(seen)}; ${spent} micro-USDC moved`)
      await until('a sale', async () => served(await echo(world, buyer)), 90)
      return '503, nothing moved, and sold again once they were right'
    },
  )
  await report.check('the facilitator is down: the next in the list settles, for the first buyer too', async () => {
    const before = (await world.facilitatorSeen()).settled
    await world.facilitator('down')
    // Longer than it is believed to be well without being heard of.
    await pause(11_000)
    const first = await echo(world, buyer)
    expectThat(first.status === 200, brief(first))
    expectThat((await world.facilitatorSeen()).settled === before, 'the facilitator settled while it was down')
    return `200 in ${first.ms} ms`
  })
  await report.check(
    'a facilitator that says it settled and moved nothing serves nobody and charges nobody',
    async () => {
      await world.facilitator('none')
      await until('the facilitator is used again', async () => {
        const { settled } = await world.facilitatorSeen()
        await echo(world, buyer)
        return (await world.facilitatorSeen()).settled > settled
      })
      await world.facilitator(planted === 'honest' ? 'none' : 'moves_nothing')
      const robbed = await world.newBuyer(5)
      const seen = await echo(world, robbed)
      await world.facilitator('none')
      const spent = 5_000_000n - (await world.balance('base', robbed))
      expectThat(seen.status === 503 && spent === 0n, `${brief(seen)}; ${spent} micro-USDC moved`)
      return `503, nothing moved`
    },
  )
  await report.check('all is well again: the price of a purchase arrives', async () => {
    await until('a sale', async () => served(await echo(world, buyer)))
    const before = await world.balance('base', buyer)
    await until('a sale', async () => served(await echo(world, buyer)))
    const spent = before - (await world.balance('base', buyer))
    expectThat(spent === priceMicro, `${spent} micro-USDC were spent`)
    return `200, ${spent} micro-USDC`
  })
}

const served = (seen: { status: number; ms: number }) => seen.status === 200 && seen
