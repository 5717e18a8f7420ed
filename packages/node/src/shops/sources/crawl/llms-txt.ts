import { storable } from '../page/storable.ts'

export type LlmsTxt = { title: string; links: readonly string[] }

/** llms.txt: a Markdown file with a first heading and links to what is worth reading. Undefined for anything else. */
export function parseLlmsTxt(text: string, base: string): LlmsTxt | undefined {
  const lines = text
    .replace(/^\ufeff/, '')
    .slice(0, 200_000)
    .split(/\r?\n/)
  const heading = lines.find((line) => line.trim() !== '') ?? ''
  const title = /^#\s+(\S.{0,199})/.exec(heading)?.[1]
  if (title === undefined) return undefined
  const links = lines
    .filter((line) => line.includes(']('))
    .flatMap((line) =>
      [...line.slice(0, 4_096).matchAll(/\[[^\]\n]{0,300}\]\(([^()\s]{1,2000})\)/g)].flatMap(([, href = '']) =>
        URL.canParse(href, base) && /^https?:$/.test(new URL(href, base).protocol) ? [new URL(href, base).href] : [],
      ),
    )
  return { title: storable(title.trim()), links: [...new Set(links)].slice(0, 200) }
}
