import { constants } from "node:os";

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Of `struct seccomp_data`. */
const [NUMBER, MACHINE, FIRST_ARGUMENT] = [0, 4, 16];
const [LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN] = [0x20, 0x15, 0x35, 0x06];
const [ALLOWED, REFUSED] = [0x7fff0000, 0x00050000];
const VSOCK = 40;
/** The same calls again, by other numbers. */
const X32 = 0x40000000;

/** `add_key`, `request_key` and `keyctl`. */
const NUMBERS: Record<string, { machine: number; socket: number; keys: number[] }> = {
  x64: { machine: 0xc000003e, socket: 41, keys: [248, 249, 250] },
  arm64: { machine: 0xc00000b7, socket: 198, keys: [217, 218, 219] },
};

/**
 * What no namespace holds back, as a filter for `bwrap --seccomp`: keys of the user's session are inherited, and
 * sockets of virtual machines reach the machine around this one. undefined: a processor that is not known here.
 */
export function kernelFilter(arch: string): Buffer | undefined {
  const known = NUMBERS[arch];
  if (known === undefined) return undefined;
  const { machine, socket, keys } = known;
  return program([
    [LOAD, 0, 0, MACHINE],
    [JUMP_IF_EQUAL, 1, 0, machine],
    // Programs for another processor call all of this by other numbers.
    refuse(constants.errno.ENOSYS),
    [LOAD, 0, 0, NUMBER],
    [JUMP_IF_AT_LEAST, 0, 1, X32],
    refuse(constants.errno.ENOSYS),
    ...keys.flatMap((key): Instruction[] => [[JUMP_IF_EQUAL, 0, 1, key], refuse(constants.errno.EPERM)]),
    [JUMP_IF_EQUAL, 0, 3, socket],
    [LOAD, 0, 0, FIRST_ARGUMENT],
    [JUMP_IF_EQUAL, 0, 1, VSOCK],
    refuse(constants.errno.EAFNOSUPPORT),
    [RETURN, 0, 0, ALLOWED],
  ]);
}

function refuse(error: number): Instruction {
  return [RETURN, 0, 0, REFUSED + error];
}

const INSTRUCTION_BYTES = 8;

function program(instructions: Instruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_BYTES);
  for (const [at, [code, ifTrue, ifFalse, value]] of instructions.entries()) {
    const from = at * INSTRUCTION_BYTES;
    bytes.writeUInt16LE(code, from);
    bytes.writeUInt8(ifTrue, from + 2);
    bytes.writeUInt8(ifFalse, from + 3);
    bytes.writeUInt32LE(value, from + 4);
  }
  return bytes;
}
