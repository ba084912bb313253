#include "textflag.h"

// func dotsVNNI(q, rows *int8, n, dim int, bias int32, out *int32)
//
// VPDPBUSD multiplies unsigned with signed bytes and adds four products to each int32,
// exactly. Rows are made unsigned by flipping their sign bits, which adds 128 to each;
// bias, what that adds to the whole product, is taken off where the sum begins.
TEXT ·dotsVNNI(SB), NOSPLIT, $0-48
	MOVQ q+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ dim+24(FP), DX
	MOVL bias+32(FP), R10
	MOVQ out+40(FP), BX
	MOVL $0x80808080, AX
	VPBROADCASTD AX, Z16
	LEAQ -64(DX), R9

row:
	VMOVD R10, X0
	VPXORD Z1, Z1, Z1
	XORQ R8, R8
	CMPQ R8, R9
	JGE last

pair:
	VPXORD (SI)(R8*1), Z16, Z4
	VPXORD 64(SI)(R8*1), Z16, Z5
	VPDPBUSD (DI)(R8*1), Z4, Z0
	VPDPBUSD 64(DI)(R8*1), Z5, Z1
	ADDQ $128, R8
	CMPQ R8, R9
	JLT pair

last:
	CMPQ R8, DX
	JGE sum
	VPXORD (SI)(R8*1), Z16, Z4
	VPDPBUSD (DI)(R8*1), Z4, Z0

sum:
	VPADDD Z1, Z0, Z0
	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (BX)
	ADDQ $4, BX
	ADDQ DX, SI
	DECQ CX
	JNZ row
	VZEROUPPER
	RET

// func dotsAVX2(q *int16, rows *int8, n, dim int, out *int32)
//
// Rows are widened to int16; VPMADDWD then adds two products to each int32, exactly.
TEXT ·dotsAVX2(SB), NOSPLIT, $0-40
	MOVQ q+0(FP), DI
	MOVQ rows+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ dim+24(FP), DX
	MOVQ out+32(FP), BX

row:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ R8, R8

quad:
	VPMOVSXBW (SI)(R8*1), Y4
	VPMOVSXBW 16(SI)(R8*1), Y5
	VPMOVSXBW 32(SI)(R8*1), Y6
	VPMOVSXBW 48(SI)(R8*1), Y7
	VPMADDWD (DI)(R8*2), Y4, Y4
	VPMADDWD 32(DI)(R8*2), Y5, Y5
	VPMADDWD 64(DI)(R8*2), Y6, Y6
	VPMADDWD 96(DI)(R8*2), Y7, Y7
	VPADDD Y4, Y0, Y0
	VPADDD Y5, Y1, Y1
	VPADDD Y6, Y0, Y0
	VPADDD Y7, Y1, Y1
	ADDQ $64, R8
	CMPQ R8, DX
	JLT quad

	VPADDD Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0x4e, X0, X1
	VPADDD X1, X0, X0
	VPSHUFD $0xb1, X0, X1
	VPADDD X1, X0, X0
	VMOVD X0, (BX)
	ADDQ $4, BX
	ADDQ DX, SI
	DECQ CX
	JNZ row
	VZEROUPPER
	RET
