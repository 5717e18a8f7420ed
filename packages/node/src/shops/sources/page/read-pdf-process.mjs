// Runs in its own process with little memory: a PDF is a program, and a hostile one is killed with its process.
import { stdin, stdout } from 'node:process'
import { extractText, getDocumentProxy } from 'unpdf'

const pagesMax = 500
const charactersMax = 400_000

const pieces = []
for await (const piece of stdin) pieces.push(piece)
const document = await getDocumentProxy(new Uint8Array(Buffer.concat(pieces)), {
  isEvalSupported: false,
  disableFontFace: true,
  useSystemFonts: false,
  stopAtErrors: false,
})
if (document.numPages > pagesMax) throw new RangeError(`more than ${pagesMax} pages`)
const { text } = await extractText(document, { mergePages: false })
const { info = {} } = await document.getMetadata().catch(() => ({}))
const textOf = (value) => (typeof value === 'string' ? value.slice(0, 300) : '')
const found = {
  text: text.join('\n\n').slice(0, charactersMax),
  title: textOf(info.Title),
  author: textOf(info.Author),
  created: textOf(info.CreationDate),
  modified: textOf(info.ModDate),
}
stdout.end(JSON.stringify(found), () => process.exit(0))
