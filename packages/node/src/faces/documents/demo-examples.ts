import { isRecord } from '@assay/protocol/json-object'

/** Names in the examples of the shops that differ on a real node. */
const placeholders = {
  token: '0xb200000000000000000000aaaaaaaaaaaaaaaaaa',
  agent: '0x8ba1f109551bD432803012645Ac136ddd64DBA72',
  page: 'https://example.com/a',
  blocks: /\b53[56]00000\b/g,
} as const

/** The documents of a demo node name what it has, so that each of their examples answers when it is sent. */
export function withDemoExamples(text: string, demo: unknown): string {
  if (!isRecord(demo)) return text
  const first = (list: unknown, fits: (entry: Record<string, unknown>) => boolean = () => true) =>
    Array.isArray(list) ? list.filter(isRecord).find(fits) : undefined
  const token = first(demo['tokens'])?.['address']
  const agent = first(demo['accounts'], ({ role }) => role === 'buyer')?.['address']
  const page = first(demo['sources'])?.['url']
  let shown = text.replace(placeholders.blocks, '1')
  for (const [placeholder, real] of [
    [placeholders.token, token],
    [placeholders.agent, agent],
    [placeholders.page, page],
  ] as const)
    if (typeof real === 'string') shown = shown.replaceAll(placeholder, real)
  return shown
}
