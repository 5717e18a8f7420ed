import { type Address, zeroAddress } from '@assay/protocol/address'
import { type Hex, toHex } from '@assay/protocol/bytes'
import { type RpcCall, RpcRefusal } from '@assay/till/chain'
import { multicall3Address } from '@assay/till/devnet'
import { sha256 } from '@assay/till/kernel/bytes'
import { encodeAbiParameters, encodeEventTopics, type Hex as ViemHex } from 'viem'
import {
  adminRole,
  assetPendingSlot,
  errorSelectors,
  factoryAbi,
  factoryAddress,
  noSupplyCap,
  policyRegistryAddress,
  registryAbi,
  roles,
  type ScopeName,
  scopeNames,
  scopes,
  selectors,
  tokenAbi,
  tokenSlots,
  wad,
} from './abi/b20.ts'
import { decodeMulticallRequest, type ViewCall } from './read/multicall.ts'
import { encodeWord } from './read/words.ts'

export type ModelLog = { address: Address; topics: Hex[]; data: Hex; block: number; index: number; transaction: Hex }
export type ModelPolicy = { admin: Address; pending: Address; members: Set<Address>; children: bigint[] }

/** What a token is, in plain data: the reader's findings are compared with it, and faults are tried on it by thousands. */
export type ModelToken = {
  token: Address
  roles: Map<Hex, Set<Address>>
  roleAdmins: Map<Hex, Hex>
  cap: bigint
  supply: bigint
  paused: Set<number>
  scopes: Map<ScopeName, bigint>
  policies: Map<bigint, ModelPolicy>
  nextCounter: bigint
  logs: ModelLog[]
  block: number
}

export const modelToken: Address = '0xb200000000000000000000abcdefabcdefabcdef'
const creationTransaction = toHex(sha256('creation'))

const holdersOf = (model: ModelToken, role: Hex): Set<Address> => {
  const known = model.roles.get(role) ?? new Set<Address>()
  model.roles.set(role, known)
  return known
}

export const adminCount = (model: ModelToken): number => holdersOf(model, adminRole).size
const has = (model: ModelToken, role: Hex, account: Address) => holdersOf(model, role).has(account)
const adminOf = (model: ModelToken, role: Hex): Hex => model.roleAdmins.get(role) ?? adminRole

type ModelEvent = { abi: typeof tokenAbi; address: Address; eventName: string; args: Record<string, unknown> }

function emit(
  model: ModelToken,
  { abi, address, eventName, args }: ModelEvent,
  transaction = toHex(sha256(`transaction ${model.block}`)),
): void {
  const event = abi.find((item) => item.type === 'event' && item.name === eventName) as unknown as {
    inputs: { name: string; type: string; indexed?: boolean }[]
  }
  const plain = event.inputs.filter((input) => !input.indexed)
  const data = plain.length === 0 ? '0x' : encodeAbiParameters(plain, plain.map((input) => args[input.name]) as never)
  const topics = encodeEventTopics({ abi, eventName, args } as never) as Hex[]
  const index = model.logs.filter((log) => log.block === model.block).length
  model.logs.push({ address, topics, data: data as ViemHex, block: model.block, index, transaction })
}

const tell = (model: ModelToken, event: string, args: Record<string, unknown>, transaction?: Hex) =>
  emit(model, { abi: tokenAbi, address: model.token, eventName: event, args }, transaction)

export function createModel(firstAdmin: Address | undefined): ModelToken {
  const model: ModelToken = {
    token: modelToken,
    roles: new Map(),
    roleAdmins: new Map(),
    cap: noSupplyCap,
    supply: 1_000n,
    paused: new Set(),
    scopes: new Map(),
    policies: new Map(),
    nextCounter: 2n,
    logs: [],
    block: 10,
  }
  const created = { token: model.token, variant: 0, name: 'Model', symbol: 'MDL', decimals: 6, variantParams: '0x' }
  emit(model, { abi: factoryAbi, address: factoryAddress, eventName: 'B20Created', args: created }, creationTransaction)
  if (firstAdmin !== undefined) {
    holdersOf(model, adminRole).add(firstAdmin)
    tell(model, 'RoleGranted', { role: adminRole, account: firstAdmin, sender: factoryAddress }, creationTransaction)
  }
  model.block += 1
  return model
}

/** Each gives false where the chain would revert; then nothing has changed. */
export const operations = {
  grant(model: ModelToken, sender: Address, role: Hex, account: Address): boolean {
    if (adminCount(model) === 0 || !has(model, adminOf(model, role), sender)) return false
    if (!has(model, role, account)) {
      holdersOf(model, role).add(account)
      tell(model, 'RoleGranted', { role, account, sender })
    }
    return true
  },
  revoke(model: ModelToken, sender: Address, role: Hex, account: Address): boolean {
    if (adminCount(model) === 0 || !has(model, adminOf(model, role), sender)) return false
    return drop(model, sender, role, account)
  },
  renounce(model: ModelToken, sender: Address, role: Hex): boolean {
    return drop(model, sender, role, sender)
  },
  renounceLastAdmin(model: ModelToken, sender: Address): boolean {
    if (!has(model, adminRole, sender) || adminCount(model) !== 1) return false
    holdersOf(model, adminRole).delete(sender)
    tell(model, 'RoleRevoked', { role: adminRole, account: sender, sender })
    tell(model, 'LastAdminRenounced', { previousAdmin: sender })
    return true
  },
  setRoleAdmin(model: ModelToken, sender: Address, role: Hex, newAdmin: Hex): boolean {
    if (adminCount(model) === 0 || !has(model, adminOf(model, role), sender)) return false
    tell(model, 'RoleAdminChanged', { role, previousAdminRole: adminOf(model, role), newAdminRole: newAdmin })
    model.roleAdmins.set(role, newAdmin)
    return true
  },
  pause(model: ModelToken, sender: Address, feature: number, on: boolean): boolean {
    if (!has(model, on ? roles.PAUSE_ROLE : roles.UNPAUSE_ROLE, sender)) return false
    if (on) model.paused.add(feature)
    else model.paused.delete(feature)
    tell(model, on ? 'Paused' : 'Unpaused', { updater: sender, features: [feature] })
    return true
  },
  cap(model: ModelToken, sender: Address, cap: bigint): boolean {
    if (!has(model, adminRole, sender) || cap < model.supply) return false
    tell(model, 'SupplyCapUpdated', { updater: sender, oldSupplyCap: model.cap, newSupplyCap: cap })
    model.cap = cap
    return true
  },
  bind(model: ModelToken, sender: Address, scope: ScopeName, id: bigint): boolean {
    if (!has(model, adminRole, sender) || !exists(model, id)) return false
    const old = model.scopes.get(scope) ?? 0n
    tell(model, 'PolicyUpdated', { policyScope: scopes[scope], oldPolicyId: old, newPolicyId: id })
    model.scopes.set(scope, id)
    return true
  },
  createPolicy(model: ModelToken, admin: Address, kind: 0 | 1, members: Address[]): bigint {
    const id = (BigInt(kind) << 56n) | model.nextCounter
    model.nextCounter += 1n
    model.policies.set(id, { admin, pending: zeroAddress, members: new Set(members), children: [] })
    const registry = (event: string, args: Record<string, unknown>) =>
      emit(model, { abi: registryAbi, address: policyRegistryAddress, eventName: event, args })
    registry('PolicyCreated', { policyId: id, creator: admin, policyType: kind })
    registry('PolicyAdminUpdated', { policyId: id, previousAdmin: zeroAddress, newAdmin: admin })
    if (kind === 0) registry('BlocklistUpdated', { policyId: id, updater: admin, blocked: true, accounts: members })
    else registry('AllowlistUpdated', { policyId: id, updater: admin, allowed: true, accounts: members })
    return id
  },
  renouncePolicy(model: ModelToken, id: bigint): boolean {
    const policy = model.policies.get(id)
    if (policy === undefined || policy.admin === zeroAddress) return false
    const args = { policyId: id, previousAdmin: policy.admin, newAdmin: zeroAddress }
    emit(model, { abi: registryAbi, address: policyRegistryAddress, eventName: 'PolicyAdminUpdated', args })
    policy.admin = zeroAddress
    return true
  },
}

function drop(model: ModelToken, sender: Address, role: Hex, account: Address): boolean {
  if (role === adminRole && adminCount(model) === 1 && has(model, role, account)) return false
  if (has(model, role, account)) {
    holdersOf(model, role).delete(account)
    tell(model, 'RoleRevoked', { role, account, sender })
  }
  return true
}

const exists = (model: ModelToken, id: bigint) => id === 0n || id === ((1n << 56n) | 1n) || model.policies.has(id)

// --- the model as an RPC endpoint ---

const word = (value: bigint | Hex | boolean): Hex =>
  `0x${encodeWord(typeof value === 'boolean' ? (value ? 1n : 0n) : value)}`
const text = (value: string): Hex => encodeAbiParameters([{ type: 'string' }], [value])
const list = (values: readonly (number | bigint)[]): Hex =>
  encodeAbiParameters([{ type: 'uint256[]' }], [values.map(BigInt)])

type Result = { success: boolean; data: Hex }
const returns = (data: Hex): Result => ({ success: true, data })
const reverts = (data: Hex): Result => ({ success: false, data })

const argument = (data: Hex, index: number): Hex => `0x${data.slice(10 + index * 64, 74 + index * 64)}`
const addressArgument = (data: Hex, index: number): Address => `0x${argument(data, index).slice(26)}` as Address

type Answerer = (model: ModelToken, data: Hex) => Result
const bySelector = (table: Record<string, Answerer>): Map<string, Answerer> =>
  new Map(Object.entries(table).map(([name, answer]) => [selectors[name as keyof typeof selectors], answer]))

const [modelName, modelSymbol, noText] = [returns(text('Model')), returns(text('MDL')), returns(text(''))]
const one = returns(word(wad))

const tokenAnswers = bySelector({
  'SEIZE_ROLE()': () => returns(word(roles.SEIZE_ROLE)),
  'name()': () => modelName,
  'symbol()': () => modelSymbol,
  'contractURI()': () => noText,
  'decimals()': () => returns(word(6n)),
  'totalSupply()': (model) => returns(word(model.supply)),
  'supplyCap()': (model) => returns(word(model.cap)),
  'pausedFeatures()': (model) => returns(list([...model.paused])),
  'multiplier()': () => one,
  'uiMultiplier()': () => one,
  'newUIMultiplier()': () => one,
  'effectiveAt()': () => returns(word(0n)),
  'supportsInterface(bytes4)': () => returns(word(true)),
  'hasRole(bytes32,address)': (model, data) => returns(word(has(model, argument(data, 0), addressArgument(data, 1)))),
  'getRoleAdmin(bytes32)': (model, data) => returns(word(adminOf(model, argument(data, 0)))),
  'policyId(bytes32)': (model, data) => {
    const scope = scopeNames.find((name) => scopes[name] === argument(data, 0))
    return scope === undefined
      ? reverts(`${errorSelectors['UnsupportedPolicyType(bytes32)']}${argument(data, 0).slice(2)}`)
      : returns(word(model.scopes.get(scope) ?? 0n))
  },
})

const idIn = (data: Hex) => BigInt(argument(data, 0)) & ((1n << 63n) - 1n)
const policyIn = (model: ModelToken, data: Hex) => model.policies.get(idIn(data))

const registryAnswers = bySelector({
  'invertedPolicyId(uint64)': (_model, data) => returns(word(BigInt(argument(data, 0)) ^ (1n << 63n))),
  'policyExists(uint64)': (model, data) => returns(word(exists(model, idIn(data)))),
  'policyAdmin(uint64)': (model, data) => returns(word(policyIn(model, data)?.admin ?? zeroAddress)),
  'pendingPolicyAdmin(uint64)': (model, data) => returns(word(policyIn(model, data)?.pending ?? zeroAddress)),
  'compositePolicyChildIds(uint64)': (model, data) => returns(list(policyIn(model, data)?.children ?? [])),
  'isAuthorized(uint64,address)': (model, data) => {
    const listed = policyIn(model, data)?.members.has(addressArgument(data, 1)) ?? false
    return returns(word(idIn(data) >> 56n === 1n ? listed : !listed))
  },
})

function lookUp(answers: ReadonlyMap<string, Answerer>, model: ModelToken, data: Hex): Result {
  const selector = data.slice(0, 10) as Hex
  return answers.get(selector)?.(model, data) ?? reverts(selector)
}

function answerView(model: ModelToken, { to, data }: ViewCall): Result {
  if (to === factoryAddress) return returns(word(addressArgument(data, 0) === model.token))
  if (to === model.token) return lookUp(tokenAnswers, model, data)
  if (to === policyRegistryAddress) return lookUp(registryAnswers, model, data)
  return returns('0x')
}

const hashes = new Map<string, Hex>()

function hashOf(text: string): Hex {
  const known = hashes.get(text) ?? toHex(sha256(text))
  hashes.set(text, known)
  return known
}

export const blockHash = (number: number): Hex => hashOf(`block ${number}`)

function blockAt(number: number, timestamp: number) {
  return {
    number: `0x${number.toString(16)}`,
    hash: blockHash(number),
    timestamp: `0x${timestamp.toString(16)}`,
    stateRoot: hashOf(`root ${number}`),
  }
}

function storageAt(model: ModelToken, slot: Hex): Hex {
  const scope = (name: ScopeName) => model.scopes.get(name) ?? 0n
  const values: Record<string, bigint> = {
    [tokenSlots.adminCount]: BigInt(adminCount(model)),
    [tokenSlots.transferPolicyIds]:
      scope('TRANSFER_SENDER_POLICY') |
      (scope('TRANSFER_RECEIVER_POLICY') << 64n) |
      (scope('TRANSFER_EXECUTOR_POLICY') << 128n),
    [tokenSlots.mintPolicyIds]: scope('MINT_RECEIVER_POLICY'),
    [tokenSlots.seizePolicyIds]: scope('SEIZE_EXEMPT_POLICY') | (scope('SEIZE_RECEIVER_POLICY') << 64n),
    [tokenSlots.pausedFeatures]: [...model.paused].reduce((bits, feature) => bits | (1n << BigInt(feature)), 0n),
    [tokenSlots.supplyCap]: model.cap,
    [tokenSlots.totalSupply]: model.supply,
    [assetPendingSlot]: 0n,
  }
  return word(values[slot] ?? 0n)
}

type Filter = { address: Address | Address[]; topics: (Hex | Hex[] | null)[]; fromBlock: Hex; toBlock: Hex }

function logsFor(model: ModelToken, filter: Filter) {
  const [from, to] = [Number(filter.fromBlock), Number(filter.toBlock)]
  return model.logs
    .filter((log) => [filter.address].flat().includes(log.address) && log.block >= from && log.block <= to)
    .filter((log) =>
      filter.topics.every(
        (wanted, i) =>
          wanted === null ||
          (typeof wanted === 'string' ? wanted === log.topics[i] : wanted.includes(log.topics[i] as Hex)),
      ),
    )
    .map((log) => ({
      address: log.address,
      topics: log.topics,
      data: log.data,
      blockNumber: `0x${log.block.toString(16)}`,
      blockHash: blockHash(log.block),
      transactionHash: log.transaction,
      logIndex: `0x${log.index.toString(16)}`,
      removed: false,
    }))
}

function receiptLogs(model: ModelToken, transaction: Hex) {
  const all = { fromBlock: '0x0' as Hex, toBlock: '0xffff' as Hex, topics: [] }
  return [factoryAddress, model.token]
    .flatMap((address) => logsFor(model, { ...all, address }))
    .filter((log) => log.transactionHash === transaction)
}

const [wordZero, wordOne, word64] = [encodeWord(0), encodeWord(1), encodeWord(64)]

export function encodeResults(results: readonly Result[]): Hex {
  const head: string[] = [encodeWord(32), encodeWord(results.length)]
  const tail: string[] = []
  let offset = results.length * 32
  for (const { success, data } of results) {
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
    head.push(encodeWord(offset))
    tail.push(success ? wordOne : wordZero, word64, encodeWord(digits.length / 2), padded)
    offset += 96 + padded.length / 2
  }
  return `0x${head.join('')}${tail.join('')}`
}

/** Changes the result of single views inside a multicall. */
export type AlterView = (call: ViewCall, result: Result) => Result

export function answerModel(
  model: ModelToken,
  call: RpcCall,
  nowSeconds: number,
  alter: AlterView = (_, result) => result,
): unknown {
  const [first, second] = call.params as [never, never]
  switch (call.method) {
    case 'eth_chainId':
      return '0x2105'
    case 'eth_getBlockByNumber':
      return String(first).startsWith('0x') ? blockAt(Number(first), nowSeconds) : blockAt(model.block, nowSeconds)
    case 'eth_getCode':
      return first === model.token ? '0xef' : '0x'
    case 'eth_getStorageAt':
      return storageAt(model, second)
    case 'eth_getLogs':
      return logsFor(model, first)
    case 'eth_getTransactionByHash':
      return { from: zeroAddress, to: factoryAddress, input: '0x' }
    case 'eth_getTransactionReceipt':
      return { logs: receiptLogs(model, first) }
    case 'eth_call': {
      const { to, data } = first as { to: Address; data: Hex }
      const inner = to === multicall3Address ? decodeMulticallRequest(data) : undefined
      if (inner === undefined) throw new RpcRefusal(3, 'execution reverted', '0x')
      return encodeResults(inner.map((view) => alter(view, answerView(model, view))))
    }
    default:
      throw new RpcRefusal(-32601, `no method ${call.method}`)
  }
}
