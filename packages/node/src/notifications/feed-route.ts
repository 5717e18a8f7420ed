import { createHmac, timingSafeEqual } from 'node:crypto'
import { escapeMarkup } from '@assay/protocol/escape-markup'
import { Problem } from '@assay/till/kernel/problem'
import { z } from 'zod'
import { defineRoute, type RouteDeclaration } from '../http/index.ts'
import type { Topic } from '../shops/topic.ts'
import type { Notifications } from './port.ts'

export type FeedDeps = {
  events: Notifications
  topics: ReadonlyMap<string, Topic>
  secret: Uint8Array
  baseUrl: string
}

const rssType = 'application/rss+xml; charset=utf-8'
const itemsMax = 50

/** Opens the feed of a subject that is not public to anyone who has the address. */
export const feedToken = (secret: Uint8Array, topic: string, subject: string): string =>
  createHmac('sha256', secret).update(`feed\n${topic}\n${subject}`).digest('base64url')

export function feedUrl({ baseUrl, secret, topics }: FeedDeps, topic: string, subject: string): string {
  const path = `${baseUrl}/v1/notifications/feed/${topic}/${encodeURIComponent(subject)}`
  return topics.get(topic)?.isPublic ? path : `${path}?token=${feedToken(secret, topic, subject)}`
}

/** A topic and subject for examples: a public one if there is any. */
export function exampleSubject(topics: FeedDeps['topics']): { topic: string; subject: string } {
  const all = [...topics.values()]
  const topic = all.find(({ isPublic }) => isPublic) ?? all[0]
  return { topic: topic?.name ?? 'topic', subject: topic?.example ?? 'subject' }
}

export function feedRoute(deps: FeedDeps): RouteDeclaration {
  return defineRoute({
    id: 'notifications.feed',
    capability: 'notifications.feed',
    area: 'core',
    method: 'GET',
    path: '/v1/notifications/feed/:topic/:subject',
    summary: 'The latest events of a subject as an RSS feed',
    params: z.strictObject({ topic: z.string().max(60), subject: z.string().max(200) }),
    query: z.strictObject({ token: z.string().max(64).optional().describe('For subjects that are not public.') }),
    representations: [rssType],
    output: z.string(),
    example: {
      params: exampleSubject(deps.topics),
      output: '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0">…</rss>',
    },
    next: '/v1/notifications',
    cacheSeconds: 5,
    access: {
      kind: 'free',
      handle: async ({ params, query }) => {
        const topic = deps.topics.get(params.topic)
        const subject = topic?.subjectOf(params.subject)
        if (topic === undefined || subject === undefined || !mayRead(deps, topic, subject, query.token))
          throw new Problem('not_found', { detail: 'There is no such feed.' })
        const events = await deps.events.recent(topic.name, { subject, limit: itemsMax })
        return { status: 200, contentType: rssType, body: render(deps, topic, subject, events) }
      },
    },
  })
}

function mayRead({ secret }: FeedDeps, topic: Topic, subject: string, token: string | undefined): boolean {
  if (topic.isPublic) return true
  const [given, expected] = [Buffer.from(token ?? ''), Buffer.from(feedToken(secret, topic.name, subject))]
  return given.length === expected.length && timingSafeEqual(given, expected)
}

type Events = Awaited<ReturnType<Notifications['recent']>>

function render({ baseUrl }: FeedDeps, topic: Topic, subject: string, events: Events): string {
  const items = events.map(({ id, atMs, payload }) => {
    const text = typeof payload['text'] === 'string' ? payload['text'] : topic.title
    return `<item><title>${escapeMarkup(text)}</title><guid isPermaLink="false">${escapeMarkup(`${baseUrl}/${topic.name}/${id}`)}</guid><pubDate>${new Date(atMs).toUTCString()}</pubDate><description>${escapeMarkup(JSON.stringify(payload))}</description></item>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>${escapeMarkup(`${topic.title}: ${subject}`)}</title><link>${escapeMarkup(baseUrl)}</link><description>${escapeMarkup(topic.title)}</description>${items.join('')}</channel></rss>\n`
}
