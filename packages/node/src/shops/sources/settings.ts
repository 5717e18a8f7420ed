import { z } from 'zod'
import { parseMembers, type Variables } from '../shop-settings.ts'
import { type CrawlSettings, defaultSettings } from './deps.ts'

export const sourcesVariables = {
  CRAWL: {
    kind: 'json',
    default: '{}',
    description: 'JSON object with the budgets and the pace of the crawler; docs/sources.md lists the members.',
    secret: false,
  },
} as const satisfies Variables

const schema = z.strictObject({
  pages: z.int().min(1).max(1_000_000).optional(),
  host_delay_ms: z.int().min(100).max(60_000).optional(),
  hosts_at_once: z.int().min(1).max(2_000).optional(),
  again_hours: z.number().min(1).max(24).optional(),
  renderer: z.string().startsWith('/').max(1_000).optional(),
})

/** From the JSON of `CRAWL`. What is offered is visited every day at least: terms that changed must be seen by then. */
export function parseCrawlSettings(given: unknown, demo: boolean): CrawlSettings {
  const { pages, host_delay_ms, hosts_at_once, again_hours, renderer } = parseMembers('CRAWL', schema, given)
  const usual = defaultSettings.crawl
  return {
    ...usual,
    pagesMax: pages ?? usual.pagesMax,
    hostDelayMs: host_delay_ms ?? (demo ? 0 : usual.hostDelayMs),
    hostsAtOnce: hosts_at_once ?? usual.hostsAtOnce,
    refetchMs: again_hours === undefined ? usual.refetchMs : again_hours * 3_600_000,
    ...(renderer === undefined ? {} : { renderer }),
  }
}
