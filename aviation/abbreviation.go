package aviation

import (
	"maps"
	"strings"
	"sync"

	"github.com/sextant-rag/sextant/chunk"
)

// Abbreviations are what the abbreviations stand for that accident reports of the years in
// capital letters are written with, those of the NTSB's data entry forms of the 1980s among
// them. Texts keep them; they are read as words only where chunks are ranked. Names that
// questions use themselves (VFR, ATC, RPM, ELT, NTSB) are left alone.
func Abbreviations() chunk.Glossary { return maps.Clone(abbreviations()) }

var abbreviations = sync.OnceValue(func() chunk.Glossary {
	out := chunk.Glossary{}
	for line := range strings.Lines(abbreviationTable) {
		short, full, _ := strings.Cut(strings.TrimSpace(line), " ")
		for s := range strings.SplitSeq(short, ",") {
			out[s] = full
		}
	}
	return out
})

const abbreviationTable = `A/C,ACFT,ACRFT aircraft
ACFT'S,A/C'S aircraft's
ACCDT,ACDNT accident
ACDNTS accidents
AIRSPD airspeed
ALT altitude
AMT amount
ANNL annual
APCH,APPCH approach
APCHD approached
APCHG approaching
APRX,APPROX approximately
ARPT,APT airport
ARPTS airports
ARR arrival
ATMP,ATMPT attempt
ATMPD,ATMPTD attempted
ATMPG,ATMPTG attempting
AUX auxiliary
AVBL available
BATT battery
BGN begin
BLDG building
BRK brake
BTN,BTWN between
CAPT captain
CARB carburetor
CERT certificate
CK,CHK check
CKD checked
CLB climb
CLD cloud
CLNC clearance
CLR clear
CLRD cleared
CNTR,CTR center
COMM communication
COND condition
CONDS conditions
CONT,CONTD continued
CTL,CTRL control
CTLD controlled
CTLR controller
CTLRS controllers
CTLS controls
CYL cylinder
CYLS cylinders
DEGS degrees
DEP,DEPT departure
DEPTD departed
DEPTG departing
DEST destination
DIST distance
DMG damage
DMGD damaged
DRG,DURG during
DSCNT descent
DSCND descend
DSCNDD descended
DSCNDG descending
ELEC electrical
EMERG,EMER emergency
ENCTR encounter
ENCTRD encountered
ENG engine
ENGS engines
ENG'S engine's
EQUIP equipment
EXAM examination
EXTD extended
EXTN extension
F/E flight engineer
F/O first officer
FLD field
FLT flight
FLTS flights
FM from
FND found
FREQ frequency
FT feet
FUS fuselage
FWD forward
GALS gallons
GND ground
GWT gross weight
HDG heading
HELO helicopter
HR hour
HRS hours
HWY highway
HYD,HYDR hydraulic
IMPCT impact
INFO information
INOP inoperative
INSP,INSPN inspection
INSTR instructor
INSTRD instructed
INTMT intermittent
INVST,INVSTGN investigation
KT,KTS knots
L/G landing gear
LBS pounds
LDG,LNDG landing
LDGS,LNDGS landings
LGT light
LGTS lights
LND land
LNDD landed
MAG magneto
MAGS magnetos
MAINT,MX maintenance
MALF malfunction
MECH mechanic
MFG,MFR manufacturer
MGMT management
MI miles
MSG message
MTN mountain
MTNS mountains
NAV navigation
NR,NRBY near
OBSCD obscured
OBST obstacle
OPER,OPR operator
OPRD operated
OPRG operating
ORIG original
OVHL overhaul
PAX,PSGR,PSGRS passengers
PERS personnel
PIREP pilot report
PLT pilot
PLTS pilots
PLT'S pilot's
POSN position
PRECIP precipitation
PREFLT preflight
PRES,PRESS pressure
PROC procedure
PROCS procedures
PROP propeller
PROPS propellers
PVT private
PWR power
QTY,QNTY quantity
RCVD received
RCVR receiver
REQ required
RGT,RT right
RMNG remaining
RPLCD replaced
RPRT,RPT report
RPRTD,RPTD reported
RPRTS reports
RTRN return
RTRND returned
RWY,RNWY,RY runway
RWYS runways
SFC surface
SLCTD selected
SLCTR selector
SML small
SPD speed
STAB stabilizer
STBY standby
STN station
SUBSTL substantial
SVC service
SYS system
TEMP temperature
TERR terrain
THRU through
TKOF,T/O takeoff
TKOFS takeoffs
TRNG training
TRML terminal
TURB turbulence
TWR tower
TWY taxiway
UNCTLD uncontrolled
UNK unknown
VEH vehicle
VERT vertical
VIS visibility
VLV valve
VOL volume
W/O,WO without
WND wind
WNDS winds
WT weight
WTR water
WX weather
XMSN transmission
XWIND crosswind
`
