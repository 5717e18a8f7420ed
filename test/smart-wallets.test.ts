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
  bend: (signature: Hex) => Hex = (signature) => signature,
): Promise<Payload> {
  const asContract = { ...key, address: contract } as PrivateKeyAccount
  return signPayment(asContract, await quote(url), { signature: bend })
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

test('A43: a wrapped signature with an unknown factory, or the dollar as factory, is refused without a transaction', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const real = await deployContract(till.base, factory)
  const salt = toHex(1, { size: 32 })
  const abi = parseAbi([
    'function createWallet(address,bytes32) returns (address)',
    'function walletAddress(address,bytes32) view returns (address)',
  ])
  const counterfactual = (
    await reader().readContract({
      address: real,
      abi,
      functionName: 'walletAddress',
      args: [owner.address, salt],
    })
  ).toLowerCase() as Address
  await till.base.control.fund(counterfactual, { microUsdc: 10_000n })
  const wrap = (factoryTo: Address) => (signature: Hex) =>
    concatHex([
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
        [factoryTo, encodeFunctionData({ abi, functionName: 'createWallet', args: [owner.address, salt] }), signature],
      ),
      `0x${'6492'.repeat(16)}`,
    ])
  const before = settles
  for (const factoryTo of [real, till.base.usdc, zeroAddress])
    expect((await send(url, await signFor(counterfactual, owner, wrap(factoryTo)))).status).toBe(402)
  expect(settles).toBe(before)
  expect(await till.base.request('eth_getCode', [counterfactual, 'latest'])).toBe('0x')
})

test('a wallet not yet deployed pays when the operator allows its factory (ERC-6492)', async () => {
  const owner = privateKeyToAccount(generatePrivateKey())
  const allowed = await deployContract(till.base, factory)
  const other = await till.startAnother({ env: { ERC6492_FACTORIES: allowed } })
  const salt = toHex(2, { size: 32 })
  const abi = parseAbi([
    'function createWallet(address,bytes32) returns (address)',
    'function walletAddress(address,bytes32) view returns (address)',
  ])
  const counterfactual = (
    await reader().readContract({
      address: allowed,
      abi,
      functionName: 'walletAddress',
      args: [owner.address, salt],
    })
  ).toLowerCase() as Address
  await till.base.control.fund(counterfactual, { microUsdc: 10_000n })
  const target = `${other.url}${echoPath}`
  const payload = await signPayment({ ...owner, address: counterfactual } as PrivateKeyAccount, await quote(target), {
    signature: (signature) =>
      concatHex([
        encodeAbiParameters(
          [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }],
          [allowed, encodeFunctionData({ abi, functionName: 'createWallet', args: [owner.address, salt] }), signature],
        ),
        `0x${'6492'.repeat(16)}`,
      ]),
  })
  const response = await send(target, payload)
  expect(response.status, await response.clone().text()).toBe(200)
})
