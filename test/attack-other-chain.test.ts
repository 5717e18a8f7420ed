import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import wallet from '../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import type { Address } from '../packages/protocol/src/address.ts'
import type { Devnet } from '../packages/till/src/devnet/index.ts'
import { spentOnChain } from './harness/invariants.ts'
import { echoPath, quote, send, signPayment } from './harness/till-fixture.ts'
import { until } from './harness/until.ts'
import { useTill } from './harness/use-till.ts'
import { deployContract } from './harness/wallets.ts'

const till = useTill({ ownShops: 'till' })

async function deployWallet(devnet: Devnet, deployer: PrivateKeyAccount, owner: Address): Promise<Address> {
  await devnet.control.fund(deployer.address.toLowerCase() as Address, { microUsdc: 0n, wei: 10n ** 18n })
  return deployContract(devnet, wallet, [owner], deployer)
}

/** As if the connection had broken while the answer was on its way. */
const loseAnswer = (payer: string) =>
  till.db.owner.query(`update payment set delivered_at = null, client_gone = true where payer = $1`, [
    payer.toLowerCase(),
  ])
const untilDelivered = (payer: string) =>
  until('delivered', async () => {
    const sql = `select 1 from payment where payer = $1 and delivered_at is not null`
    return (await till.db.owner.query(sql, [payer.toLowerCase()])).rows.length > 0
  })

test('the owner of the same contract address on another chain does not get the lost answer of its payer', async () => {
  const deployer = privateKeyToAccount(generatePrivateKey())
  const victim = privateKeyToAccount(generatePrivateKey())
  const thief = privateKeyToAccount(generatePrivateKey())
  const address = await deployWallet(till.base, deployer, victim.address.toLowerCase() as Address)
  expect(await deployWallet(till.polygon, deployer, thief.address.toLowerCase() as Address)).toBe(address)
  await till.base.control.fund(address, { microUsdc: 1_000_000n, wei: 0n })
  const url = `${till.node.url}${echoPath}?message=for_the_victim_only`
  const as = (key: PrivateKeyAccount) => ({ ...key, address }) as PrivateKeyAccount
  expect((await send(url, await signPayment(as(victim), await quote(url)))).status).toBe(200)
  await untilDelivered(address)
  await loseAnswer(address)
  const stolen = await send(url, await signPayment(as(thief), await quote(url), { network: 'eip155:137' }))
  expect(stolen.status).toBe(402)
  expect(await stolen.text()).not.toContain('for_the_victim_only"')
  // The payer itself still gets it, and is not charged again.
  const again = await send(url, await signPayment(as(victim), await quote(url)))
  expect(again.status).toBe(200)
  expect(await spentOnChain(till, 'base', address, 1_000_000n)).toBe(1_000n)
})

test('a plain wallet that lost its answer on one chain and tries again on the other pays once', async () => {
  const buyer = await till.newBuyer()
  const url = `${till.node.url}${echoPath}?message=either_chain`
  expect((await send(url, await signPayment(buyer, await quote(url)))).status).toBe(200)
  await untilDelivered(buyer.address)
  await loseAnswer(buyer.address)
  const again = await send(url, await signPayment(buyer, await quote(url), { network: 'eip155:137' }))
  expect(again.status).toBe(200)
  expect(await spentOnChain(till, 'base', buyer.address)).toBe(1_000n)
  expect(await spentOnChain(till, 'polygon', buyer.address)).toBe(0n)
})
