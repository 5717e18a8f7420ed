import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { selectors } from '../abi/b20.ts'
import { type Known, unknown } from '../facts.ts'
import type { ViewCall } from './multicall.ts'
import { factOf, type RawRead, readViews, type View, type ViewSource } from './views.ts'

export type Asked = { views: readonly ViewCall[]; raws: readonly RawRead[] }

/** Questions about one block: asked in any order, each once, all open ones in a single round trip. */
export type Questions = {
  ask(call: ViewCall): void
  askCode(address: Address): void
  askStorage(address: Address, slot: Hex): void
  /** One round trip for all that is open; none where nothing is. */
  run(): Promise<void>
  view(call: ViewCall): View | undefined
  fact<T>(call: ViewCall, read: (data: Hex) => T | undefined): Known<T>
  code(address: Address): Known<Hex>
  storage(address: Address, slot: Hex): Known<Hex>
  /** Every account some hasRole was asked about. */
  accountsAsked(): ReadonlySet<Address>
  /** Everything that was asked, to be asked again at another block. */
  asked(): Asked
  askAgain(asked: Asked): void
}

const viewKey = (call: ViewCall) => call.to + call.data
const codeKey = (address: Address) => address
const storageKey = (address: Address, slot: Hex) => address + slot

export function createQuestions(source: ViewSource): Questions {
  const views = new Map<string, View>()
  const raws = new Map<string, Known<Hex>>()
  const openViews = new Map<string, ViewCall>()
  const openRaws = new Map<string, RawRead>()
  const accounts = new Set<Address>()
  const asked: { views: ViewCall[]; raws: RawRead[] } = { views: [], raws: [] }
  const open = (key: string, raw: RawRead) => {
    if (!raws.has(key)) openRaws.set(key, raw)
  }
  const view = (call: ViewCall) => views.get(viewKey(call))
  const ask = (call: ViewCall) => {
    const key = viewKey(call)
    if (!views.has(key)) openViews.set(key, call)
    if (call.data.startsWith(selectors['hasRole(bytes32,address)']))
      accounts.add(`0x${call.data.slice(-40)}` as Address)
  }
  return {
    ask,
    askCode: (address) => open(codeKey(address), { kind: 'code', address }),
    askStorage: (address, slot) => open(storageKey(address, slot), { kind: 'storage', address, slot }),
    run: async () => {
      const [viewKeys, rawKeys] = [[...openViews.keys()], [...openRaws.keys()]]
      const batch = await readViews(source, [...openViews.values()], [...openRaws.values()])
      for (const [i, key] of viewKeys.entries()) views.set(key, batch.views[i] as View)
      for (const [i, key] of rawKeys.entries()) raws.set(key, batch.raws[i] as Known<Hex>)
      asked.views.push(...openViews.values())
      asked.raws.push(...openRaws.values())
      openViews.clear()
      openRaws.clear()
    },
    view,
    fact: (call, read) => factOf(view(call), read),
    code: (address) => raws.get(codeKey(address)) ?? unknown('not_asked'),
    storage: (address, slot) => raws.get(storageKey(address, slot)) ?? unknown('not_asked'),
    accountsAsked: () => accounts,
    asked: () => asked,
    askAgain: ({ views: calls, raws: reads }) => {
      for (const call of calls) ask(call)
      for (const raw of reads) open(raw.kind === 'code' ? codeKey(raw.address) : storageKey(raw.address, raw.slot), raw)
    },
  }
}
