import {
  concatHex,
  createPublicClient,
  encodeAbiParameters,
  encodeFunctionData,
  getAddress,
  type Hex,
  parseAbi,
  toHex,
} from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import burning from '../contracts/artifacts/GasBurningWallet.json' with { type: 'json' }
import wallet from '../contracts/artifacts/SmartWallet.json' with { type: 'json' }
import factory from '../contracts/artifacts/SmartWalletFactory.json' with { type: 'json' }
import yes from '../contracts/artifacts/YesWallet.json' with { type: 'json' }
import { type Address, zeroAddress } from '../packages/protocol/src/address.ts'
import { devnetTransport } from '../packages/till/src/devnet/index.ts'
import type { Facilitator } from '../packages/till/src/index.ts'
import { echoPath, type Payload, quote, send, signPayment } from './harness/till-fixture.ts'
import { useTill } from './harness/use-till.ts'
import { deployContract, deploySwitchWallet, setSignatureValid } from './harness/wallets.ts'

let url: string
let settles = 0
const counting = (facilitator: Facilitator): Facilitator => ({
  ...facilitator,
  settle: (payment, signal) => {
    settles += 1
    return facilitator.settle(payment, signal)
  },
})

const till = useTill({ ownShops: 'till', intercept: { facilitator: counting } })
beforeAll(async () => {
  url = `${till.node.url}${echoPath}`
})

const reader = () => createPublicClient({ transport: devnetTransport(till.base), pollingInterval: 20 })

/** A payment in the name of a contract, signed by a key. */
async function signFor(
  contract: Address,
  key: PrivateKeyAccount,
  change: (signature: Hex) => Hex = (signature) => signature,
  target = url,
): Promise<Payload> {
  const asContract = { ...key, address: contract } as PrivateKeyAccount
  return signPayment(asContract, await quote(target), { signature: change })
}

test('a contract wallet pays like anybody else (ERC-1271)', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const contract = await deployContract(till.base, wallet, [owner.address])
  await till.base.control.fund(contract, { microUsdc: 10_000n })
  const response = await send(url, await signFor(contract, owner))
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ paid_by: getAddress(contract) })
  const stranger = privateKeyToAccount(generatePrivateKey())
  expect((await send(url, await signFor(contract, stranger))).status).toBe(402)
})

test('A44: a wallet that burns gas is refused under a gas cap, one that says yes to all pays for itself', async () => {
  const key = privateKeyToAccount(generatePrivateKey())
  const burner = await deployContract(till.base, burning)
  await till.base.control.fund(burner, { microUsdc: 10_000n })
  const before = settles
  expect((await send(url, await signFor(burner, key))).status).toBe(402)
  expect(settles).toBe(before)
  const agreeing = await deployContract(till.base, yes)
  await till.base.control.fund(agreeing, { microUsdc: 10_000n })
  expect((await send(url, await signFor(agreeing, key))).status).toBe(200)
})

test('A44: a wallet that changes its mind between check and settlement gets nothing and is charged nothing', async () => {
  const key = privateKeyToAccount(generatePrivateKey())
  const contract = await deploySwitchWallet(till.base)
  await till.base.control.fund(contract, { microUsdc: 10_000n })
  const payload = await signFor(contract, key)
  await setSignatureValid(till.base, contract, false)
  expect((await send(url, payload)).status).toBe(402)
})

const factoryAbi = parseAbi([
  'function createWallet(address,bytes32) returns (address)',
  'function walletAddress(address,bytes32) view returns (address)',
])

/** A funded wallet that its factory has not deployed yet, and its signatures with the deployment in front (ERC-6492). */
async function counterfactualWallet(at: Address, salt: Hex) {
  const owner = privateKeyToAccount(generatePrivateKey())
  const args = [owner.address, salt] as const
  const found = await reader().readContract({ address: at, abi: factoryAbi, functionName: 'walletAddress', args })
  const address = found.toLowerCase() as Address
  await till.base.control.fund(address, { microUsdc: 10_000n })
  const deployment = encodeFunctionData({ abi: factoryAbi, functionName: 'createWallet', args })
  const wrap = (factoryTo: Address) => (signature: Hex) =>
    concatHex([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [factoryTo, deployment, signature],
      ),
      `0x${'6492'.repeat(16)}`,
    ])
  return { owner, address, wrap }
}

test('A43: a wrapped signature with an unknown factory, or the dollar as factory, is refused without a transaction', async () => {
  const real = await deployContract(till.base, factory)
  const { owner, address, wrap } = await counterfactualWallet(real, toHex(1, { size: 32 }))
  const before = settles
  for (const factoryTo of [real, till.base.usdc, zeroAddress])
    expect((await send(url, await signFor(address, owner, wrap(factoryTo)))).status).toBe(402)
  expect(settles).toBe(before)
  expect(await till.base.request('eth_getCode', [address, 'latest'])).toBe('0x')
})

test('a wallet not yet deployed pays when the operator allows its factory (ERC-6492)', async () => {
  const allowed = await deployContract(till.base, factory)
  const other = await till.startAnother({ env: { ERC6492_FACTORIES: allowed } })
  const { owner, address, wrap } = await counterfactualWallet(allowed, toHex(2, { size: 32 }))
  const target = `${other.url}${echoPath}`
  const response = await send(target, await signFor(address, owner, wrap(allowed), target))
  expect(response.status, await response.clone().text()).toBe(200)
})
