/** What a citation names. `accessedAt`: when the page was read. */
export type CitedPage = {
  url: string
  title: string
  authors: readonly string[]
  publisher: string | undefined
  publishedAt: string | undefined
  accessedAt: string
}

export type CitationTexts = { apa: string; mla: string; bibtex: string; markdown: string }

/** Ready to be pasted. What a page does not say is left out, as the styles ask. */
export function citePage(page: CitedPage): CitationTexts {
  return { apa: apa(page), mla: mla(page), bibtex: bibtex(page), markdown: markdown(page) }
}

const months = 'January February March April May June July August September October November December'.split(' ')
const mlaMonths = 'Jan. Feb. Mar. Apr. May June July Aug. Sept. Oct. Nov. Dec.'.split(' ')

type Day = { year: number; month: number; day: number }

function dayOf(text: string | undefined): Day | undefined {
  const date = new Date(text ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return undefined
  return { year: date.getUTCFullYear(), month: date.getUTCMonth(), day: date.getUTCDate() }
}

const ofOrganisation =
  /\b(?:agency|association|board|bureau|committee|corporation|council|desk|department|editors?|editorial|foundation|gmbh|group|inc|institute|llc|ltd|magazine|ministry|network|news|office|organi[sz]ation|press|research|service|society|staff|studio|team|union|university)\b/i

/** A person's name is turned round; what may be an organisation stays as it is. */
function nameParts(name: string): { last: string; first: string[] } | undefined {
  if (ofOrganisation.test(name) || name.includes(',')) return undefined
  const words = name.split(/\s+/).filter(Boolean)
  if (words.length < 2 || words.length > 4 || words.some((word) => !/^\p{Lu}/u.test(word))) return undefined
  return { last: words.at(-1) as string, first: words.slice(0, -1) }
}

function apa({ url, title, authors, publisher, publishedAt }: CitedPage): string {
  const names = authors.slice(0, 20).map((name) => {
    const parts = nameParts(name)
    return parts ? `${parts.last}, ${parts.first.map((word) => `${[...word][0]}.`).join(' ')}` : name
  })
  const who = names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')}, & ${names.at(-1)}`
  const day = dayOf(publishedAt)
  const when = day ? `(${day.year}, ${months[day.month]} ${day.day}).` : '(n.d.).'
  const site = publisher !== undefined && publisher !== authors[0] ? ` ${ended(publisher)}` : ''
  return who === '' ? `${ended(title)} ${when}${site} ${url}` : `${ended(who)} ${when} ${ended(title)}${site} ${url}`
}

function mla({ url, title, authors, publisher, publishedAt, accessedAt }: CitedPage): string {
  const [first, ...others] = authors
  const parts = first === undefined ? undefined : nameParts(first)
  const lead = parts ? `${parts.last}, ${parts.first.join(' ')}` : (first ?? '')
  const who =
    lead === '' ? '' : others.length === 0 ? lead : others.length === 1 ? `${lead}, and ${others[0]}` : `${lead}, et al`
  const spoken = (text: string | undefined) => {
    const day = dayOf(text)
    return day && `${day.day} ${mlaMonths[day.month]} ${day.year}`
  }
  const place = [publisher, spoken(publishedAt), url.replace(/^https?:\/\//, '')].filter(Boolean).join(', ')
  return `${who === '' ? '' : `${ended(who)} `}“${ended(title)}” ${place}. Accessed ${spoken(accessedAt) ?? 'n.d.'}.`
}

const ended = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`)

const bibtexEscapes: Record<string, string> = {
  '\\': '\\textbackslash{}',
  '~': '\\textasciitilde{}',
  '^': '\\textasciicircum{}',
}
const bibtexText = (text: string) =>
  text.replace(/[\\{}$&%#_~^]/g, (letter) => bibtexEscapes[letter] ?? `\\${letter}`).replace(/\s+/g, ' ')

function bibtex({ url, title, authors, publisher, publishedAt, accessedAt }: CitedPage): string {
  const day = dayOf(publishedAt)
  const plain = (text: string) =>
    text
      .normalize('NFKD')
      .replace(/[^A-Za-z0-9]/g, '')
      .toLowerCase()
  const [author = new URL(url).hostname] = authors
  const key = `${plain(nameParts(author)?.last ?? author).slice(0, 24) || 'page'}${day?.year ?? ''}${plain(title.split(/\s+/)[0] ?? '').slice(0, 16)}`
  const fields: [string, string | undefined][] = [
    [
      'author',
      authors.length > 0
        ? authors.map((name) => (nameParts(name) ? bibtexText(name) : `{${bibtexText(name)}}`)).join(' and ')
        : undefined,
    ],
    ['title', `{${bibtexText(title)}}`],
    ['year', day && String(day.year)],
    ['month', day && String(day.month + 1)],
    ['publisher', publisher === undefined ? undefined : bibtexText(publisher)],
    // Braces would end the field; an address may hold them only encoded.
    ['url', url.replaceAll('{', '%7B').replaceAll('}', '%7D')],
    ['urldate', accessedAt.slice(0, 10)],
  ]
  const lines = fields.flatMap(([name, value]) => (value === undefined ? [] : [`  ${name} = {${value}}`]))
  return `@misc{${key},\n${lines.join(',\n')}\n}`
}

function markdown({ url, title, authors, publisher, publishedAt }: CitedPage): string {
  const text = (words: string) => words.replace(/[\\`*_[\]<>#|]/g, (letter) => `\\${letter}`).replace(/\s+/g, ' ')
  const address = url.replace(/[()<>\s]/g, (letter) =>
    encodeURIComponent(letter).replace('(', '%28').replace(')', '%29'),
  )
  const rest = [authors.slice(0, 3).map(text).join(', '), publisher && text(publisher), publishedAt?.slice(0, 10)]
  return [`[${text(title)}](${address})`, ...rest.filter(Boolean)].join(', ')
}
