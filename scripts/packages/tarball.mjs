import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const blockBytes = 512
/** As npm dates them: tarballs of the same files are the same bytes. */
const dateSeconds = Date.UTC(1985, 9, 26, 8, 15) / 1000

/** Writes these files of a folder as npm does: below `package/`, without owners. Returns the size of the tarball. */
export function writeTarball(file, folder, names, isProgram) {
  const parts = names.flatMap((name) => {
    const bytes = readFileSync(join(folder, name))
    const rest = Buffer.alloc(-bytes.length & (blockBytes - 1))
    return [header(`package/${name}`, bytes.length, isProgram(name) ? 0o755 : 0o644), bytes, rest]
  })
  const packed = gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]), { level: 9 })
  writeFileSync(file, packed)
  return packed.length
}

/** Of POSIX ustar, in which a long path is split at a slash. */
function header(path, bytes, mode) {
  const block = Buffer.alloc(blockBytes)
  const split = path.length > 100 ? path.indexOf('/', path.length - 101) : -1
  const [prefix, name] = [path.slice(0, Math.max(split, 0)), path.slice(split + 1)]
  // Plain ASCII, so a character is a byte.
  if (!/^[ -~]+$/.test(path) || name.length > 100 || prefix.length > 155 || split > path.length)
    throw new Error(`${path} does not fit into a tarball`)
  const octal = (value, digits) => `${value.toString(8).padStart(digits, '0')} `
  const fields = [
    [0, name],
    [100, octal(mode, 6)],
    [124, octal(bytes, 11)],
    [136, octal(dateSeconds, 11)],
    [148, ' '.repeat(8)],
    [156, '0'],
    [257, 'ustar\x0000'],
    [345, prefix],
  ]
  for (const [at, text] of fields) block.write(text, at, 'latin1')
  const sum = block.reduce((all, byte) => all + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
