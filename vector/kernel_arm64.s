#include "textflag.h"

// SDOT d.4S, n.16B, m.16B adds four products of signed bytes to each int32, exactly. The
// assembler does not know it (Arm Architecture Reference Manual, SDOT (vector)).
#define SDOT(d, n, m) WORD $(0x4E809400 | m<<16 | n<<5 | d)

// func dotsSDOT(q, rows *int8, n, dim int, out *int32)
TEXT ·dotsSDOT(SB), NOSPLIT, $0-40
	MOVD q+0(FP), R0
	MOVD rows+8(FP), R1
	MOVD n+16(FP), R2
	MOVD dim+24(FP), R3
	MOVD out+32(FP), R4

row:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	VEOR V2.B16, V2.B16, V2.B16
	VEOR V3.B16, V3.B16, V3.B16
	MOVD R0, R5
	MOVD R3, R6

quad:
	VLD1.P 64(R1), [V16.B16, V17.B16, V18.B16, V19.B16]
	VLD1.P 64(R5), [V20.B16, V21.B16, V22.B16, V23.B16]
	SDOT(0, 16, 20)
	SDOT(1, 17, 21)
	SDOT(2, 18, 22)
	SDOT(3, 19, 23)
	SUBS $64, R6, R6
	BNE quad

	VADD V1.S4, V0.S4, V0.S4
	VADD V3.S4, V2.S4, V2.S4
	VADD V2.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	VMOV V0.S[0], R7
	MOVW.P R7, 4(R4)
	SUBS $1, R2, R2
	BNE row
	RET
