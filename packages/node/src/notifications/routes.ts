import { type Address, checksumAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import type { ProofDeps } from '@assay/till/proofs'
import { z } from 'zod'
import { type CallContext, defineRoute, jsonAnswer, type RouteDeclaration, signerOf } from '../http/index.ts'
import { addEndpoint, type EndpointDeps, type Kind, proveEndpoint } from './endpoints.ts'
import { exampleSubject, type FeedDeps, feedRoute, feedUrl } from './feed-route.ts'
import { ownOutput, showOwn } from './show.ts'
import { addWatch, extendPlan, removeOwn, revokePlan, type WatchDeps } from './watches.ts'

export type NotificationRouteDeps = EndpointDeps &
  WatchDeps &
  FeedDeps & {
    proofs: ProofDeps
    networks: readonly string[]
    /** The kinds of endpoints that this node can reach. */
    kinds: ReadonlySet<Kind>
    /** The one spelling of a target, or why it is none. */
    targetOf(kind: Kind, text: string): { target: string } | { problem: string }
  }

export function notificationRoutes(deps: NotificationRouteDeps): RouteDeclaration[] {
  return [
    ownRoute(deps),
    endpointRoute(deps),
    verifyRoute(deps),
    watchRoute(deps),
    removeRoute(deps),
    planRoute(deps),
    feedRoute(deps),
  ]
}

const walletOf = async (deps: NotificationRouteDeps, call: CallContext): Promise<Address> =>
  (await signerOf(deps, call)).address

const exampleOwn = {
  wallet: '0x1111111111111111111111111111111111111111',
  plan_until_at: null,
  free_watches: 3,
  endpoints: [],
  watches: [],
  deliveries: [],
}

const show = async (deps: NotificationRouteDeps, wallet: Address) =>
  showOwn(deps.database, wallet, deps.settings.freeWatches, deps.clock.nowMs())

function ownRoute(deps: NotificationRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'notifications.own',
    capability: 'notifications.status',
    area: 'core',
    method: 'GET',
    path: '/v1/notifications',
    summary: 'Endpoints, watches and the latest deliveries of the signing wallet',
    output: ownOutput,
    example: { output: exampleOwn },
    next: '/v1/notifications/endpoints',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async (_, call) => jsonAnswer(await show(deps, await walletOf(deps, call))),
    },
  })
}

function endpointRoute(deps: NotificationRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'notifications.endpoints.add',
    capability: 'notifications.endpoint.add',
    area: 'core',
    method: 'POST',
    path: '/v1/notifications/endpoints',
    summary: 'Name a webhook or mail address for notifications; it gets a challenge first',
    description:
      'A webhook proves itself by answering the challenge with the same JSON member `challenge`; the code can also be sent to /v1/notifications/verify, as that of a mail must be. Asking again sends another challenge, also for an endpoint that was paused. Three a day and target.',
    body: z.strictObject({ kind: z.enum(['webhook', 'email']), target: z.string().min(3).max(2_048) }),
    output: ownOutput.extend({ endpoint: z.string() }),
    example: {
      body: { kind: 'webhook', target: 'https://example.com/hooks/assay' },
      output: { ...exampleOwn, endpoint: 'nep_01jc0000000000000000000000' },
    },
    next: '/v1/notifications/watches',
    cost: 10,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        const wallet = await walletOf(deps, call)
        if (!deps.kinds.has(body.kind))
          throw new Problem('bad_request', { detail: `This node sends no notifications by ${body.kind}.` })
        const parsed = deps.targetOf(body.kind, body.target)
        if ('problem' in parsed) throw new Problem('bad_request', { detail: parsed.problem })
        const endpoint = await addEndpoint(deps, wallet, body.kind, parsed.target)
        return jsonAnswer({ ...(await show(deps, wallet)), endpoint })
      },
    },
  })
}

function verifyRoute(deps: NotificationRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'notifications.verify',
    capability: 'notifications.endpoint.verify',
    area: 'core',
    method: 'POST',
    path: '/v1/notifications/verify',
    summary: 'Prove an endpoint with the code that was sent to it',
    body: z.strictObject({ endpoint: z.string().max(60), code: z.string().max(60) }),
    output: ownOutput,
    example: { body: { endpoint: 'nep_01jc0000000000000000000000', code: '0123456789abcdef' }, output: exampleOwn },
    next: '/v1/notifications/watches',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        const wallet = await walletOf(deps, call)
        const outcome = await proveEndpoint(deps, wallet, body.endpoint, body.code)
        if (outcome === 'unknown') throw new Problem('not_found', { detail: 'This wallet has no such endpoint.' })
        if (outcome === 'wrong')
          throw new Problem('bad_request', {
            detail: 'The code is not right, or was tried too often. Ask for another challenge.',
          })
        return jsonAnswer(await show(deps, wallet))
      },
    },
  })
}

function watchRoute(deps: NotificationRouteDeps): RouteDeclaration {
  const topics = [...deps.topics.values()].map(({ name, subjects }) => `\`${name}\` (${subjects})`)
  return defineRoute({
    id: 'notifications.watches.add',
    capability: 'notifications.watch.add',
    area: 'core',
    method: 'POST',
    path: '/v1/notifications/watches',
    summary: 'Subscribe to every event of a subject',
    description: `${topics.length === 0 ? 'This node has no topics.' : `Topics and their subjects: ${topics.join('; ')}.`} Delivered once the endpoint is proven. The first watches of a wallet are free, more need a plan; without one they are paused. \`feed_url\` is the same as an RSS feed.`,
    body: z.strictObject({
      endpoint: z.string().max(60),
      topic: z.string().max(60),
      subject: z.string().min(1).max(200),
    }),
    output: ownOutput.extend({ watch: z.string(), feed_url: z.string() }),
    example: {
      body: {
        endpoint: 'nep_01jc0000000000000000000000',
        ...exampleSubject(deps.topics),
      },
      output: {
        ...exampleOwn,
        watch: 'nwt_01jc0000000000000000000000',
        feed_url: `${deps.baseUrl}/v1/notifications/feed/…`,
      },
    },
    next: '/v1/notifications',
    cost: 5,
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        const wallet = await walletOf(deps, call)
        const topic = deps.topics.get(body.topic)
        const subject = topic?.subjectOf(body.subject)
        if (topic === undefined || subject === undefined)
          throw new Problem('bad_request', {
            detail: topic ? 'The subject does not fit the topic.' : `Topics: ${[...deps.topics.keys()].join(', ')}.`,
          })
        const watch = await addWatch(deps, wallet, { endpoint: body.endpoint, topic: topic.name, subject })
        return jsonAnswer({ ...(await show(deps, wallet)), watch, feed_url: feedUrl(deps, topic.name, subject) })
      },
    },
  })
}

function removeRoute(deps: NotificationRouteDeps): RouteDeclaration {
  return defineRoute({
    id: 'notifications.remove',
    capability: 'notifications.remove',
    area: 'core',
    method: 'POST',
    path: '/v1/notifications/remove',
    summary: 'Remove a watch, or an endpoint with all its watches',
    body: z.strictObject({
      id: z.string().regex(/^n(ep|wt)_[0-9a-z]{1,40}$/, 'must be the id of an endpoint or watch'),
    }),
    output: ownOutput,
    example: { body: { id: 'nwt_01jc0000000000000000000000' }, output: exampleOwn },
    next: '/v1/notifications',
    access: {
      kind: 'free',
      security: 'erc8128',
      handle: async ({ body }, call) => {
        const wallet = await walletOf(deps, call)
        if (!(await removeOwn(deps, wallet, body.id)))
          throw new Problem('not_found', { detail: 'This wallet has nothing with that id.' })
        return jsonAnswer(await show(deps, wallet))
      },
    },
  })
}

function planRoute(deps: NotificationRouteDeps): RouteDeclaration {
  const { settings } = deps
  return defineRoute({
    id: 'notifications.plan',
    capability: 'notifications.plan',
    area: 'core',
    method: 'POST',
    path: '/v1/notifications/plan',
    summary: `Up to ${settings.planWatches} watches for the paying wallet, for 30 days`,
    output: z.strictObject({ wallet: z.string(), plan_until_at: z.string().nullable(), price_usd: z.string() }),
    example: {
      output: {
        wallet: exampleOwn.wallet,
        plan_until_at: '2026-12-05T18:00:00Z',
        price_usd: formatUsd(settings.planPriceMicro),
      },
    },
    next: '/v1/notifications/watches',
    access: {
      kind: 'paid',
      price: { kind: 'fixed', micro: settings.planPriceMicro },
      networks: deps.networks,
      payee: 'pay_to',
      revocable: true,
      consumption: { seconds: 30 * 86_400 },
      prepare: async (_, call) => ({ answer: jsonAnswer(planAnswer(call.payer, null, settings.planPriceMicro)) }),
      commit: async (tx, sale) =>
        jsonAnswer(planAnswer(sale.payer, await extendPlan(tx, sale, sale.settledAtMs), sale.amountMicro)),
      revoke: (tx, sale) => revokePlan(tx, sale),
    },
  })
}

const planAnswer = (wallet: Address, untilMs: number | null, micro: bigint) => ({
  wallet: checksumAddress(wallet),
  plan_until_at: untilMs === null ? null : toRfc3339(untilMs),
  price_usd: formatUsd(micro),
})
