import type { Json } from '@assay/protocol/canonical-json'
import type { AnswerContent, CommitMany, PaidRoute, Sale } from '../contract/paid-call.ts'
import { type LedgerTransaction, post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import type { MoreThanFixed, PaidAccess, RouteDeclaration } from './route.ts'

/** How a route is sold, as declared and as the gate takes it. */
export type PaidEntry = {
  access: PaidAccess
  route: PaidRoute
  /** The route as sold to input that asks for more than the fixed price buys. */
  more?: PaidRoute
}

export const representationsOf = (declaration: RouteDeclaration): readonly string[] =>
  declaration.representations ?? ['application/json']

/** `bazaar` is the discovery block of its 402. */
export function paidEntryOf(declaration: RouteDeclaration, access: PaidAccess, bazaar: Json | undefined): PaidEntry {
  const route: PaidRoute = {
    id: declaration.id,
    networks: access.networks,
    ...(access.creditOnNetworksOnly === undefined ? {} : { creditOnNetworksOnly: access.creditOnNetworksOnly }),
    payee: access.payee,
    revocable: access.revocable,
    ...(access.consumption === undefined ? {} : { consumption: access.consumption }),
    fixedPrice: access.price.kind === 'fixed',
    ...(access.price.kind === 'fixed' && access.price.metered ? { metered: true } : {}),
    ...(access.permit2 ? { permit2: true } : {}),
    description: declaration.description ?? declaration.summary,
    mimeType: representationsOf(declaration)[0] ?? 'application/json',
    ...(bazaar === undefined ? {} : { bazaar }),
    ...effectOf(access),
    ...(access.revoke === undefined ? {} : { revoke: access.revoke.bind(access) }),
    ...(access.release === undefined ? {} : { release: access.release }),
  }
  const more = access.price.kind === 'fixed' ? access.price.more : undefined
  return { access, route, ...(more ? { more: routeForMore(route, more) } : {}) }
}

const routeForMore = (route: PaidRoute, { metered, payee = route.payee }: MoreThanFixed): PaidRoute => ({
  ...route,
  payee,
  fixedPrice: false,
  ...(metered ? { metered } : {}),
})

/** With `commitMany` a single sale is committed as a list of one, so that a route declares one of the two. */
function effectOf(access: PaidAccess): Pick<PaidRoute, 'commit' | 'commitMany'> {
  const { commitMany } = access
  if (commitMany) return { commit: (tx, sale) => commitOne(commitMany, tx, sale), commitMany }
  return access.commit === undefined ? {} : { commit: access.commit.bind(access) }
}

async function commitOne(commitMany: CommitMany, tx: Tx, sale: Sale): Promise<AnswerContent | undefined> {
  const unposted: LedgerTransaction[] = []
  const [answer] = await commitMany(tx, [sale], unposted)
  await post(tx, unposted)
  return answer
}
