/* Where the helper begins. The start files of a new glibc bind __libc_start_main to GLIBC_2.34, and the program would
 * not start on an older system. So on x86-64 the helper is linked without them, and begins here; `init` and `fini` of
 * the old interface may be NULL, since the helper has neither constructors nor destructors. */
#ifdef __x86_64__
__asm__(".symver __libc_start_main,__libc_start_main@GLIBC_2.2.5");
__asm__(".globl _start\n"
	".type _start,@function\n"
	"_start:\n"
	"\txorl %ebp, %ebp\n"
	"\tmovq %rdx, %r9\n" /* rtld_fini */
	"\tpopq %rsi\n" /* argc */
	"\tmovq %rsp, %rdx\n" /* argv */
	"\tandq $-16, %rsp\n"
	"\tpushq %rax\n"
	"\tpushq %rsp\n" /* stack_end */
	"\txorl %r8d, %r8d\n" /* fini */
	"\txorl %ecx, %ecx\n" /* init */
	"\tleaq main(%rip), %rdi\n"
	"\tcall *__libc_start_main@GOTPCREL(%rip)\n"
	"\thlt\n");
#else
extern int start_is_not_needed_here;
#endif
